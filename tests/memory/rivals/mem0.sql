CREATE TABLE history ( id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT );
CREATE TABLE messages ( id TEXT PRIMARY KEY, session_scope TEXT, role TEXT, content TEXT, name TEXT, created_at DATETIME );
INSERT INTO history VALUES ('ea41d6e3-fff3-47e6-8938-33b2f4777add', 'a1', NULL, 'Prefers tabs over spaces', 'ADD', '2026-01-02T03:04:05+00:00', NULL, 0, NULL, NULL);
INSERT INTO history VALUES ('7ab2b6f8-49f6-40de-8693-c341faa20121', 'b2', NULL, 'Lives in Lyon', 'ADD', '2026-01-03T00:00:00+00:00', NULL, 0, NULL, NULL);
INSERT INTO history VALUES ('dbcca010-db30-4c7f-a4bc-e3a65708c2d7', 'b2', 'Lives in Lyon', 'Lives in Nantes', 'UPDATE', '2026-01-03T00:00:00+00:00', '2026-02-01T00:00:00+00:00', 0, NULL, NULL);
INSERT INTO history VALUES ('c6171f17-13e7-4ee1-b260-a333769ddab4', 'c3', NULL, 'Likes tea', 'ADD', '2026-01-04T00:00:00+00:00', NULL, 0, NULL, NULL);
INSERT INTO history VALUES ('77c785e2-5680-409a-9809-649419111860', 'c3', 'Likes tea', NULL, 'DELETE', NULL, NULL, 1, NULL, NULL);
