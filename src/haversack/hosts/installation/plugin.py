"""The plugin folder, for hosts whose own program installs plugins: a marketplace with one plugin in it."""

import json
import os

from haversack.hosts.host import Host
from haversack.hosts.installation.journal import write_whole
from haversack.hosts.installation.settings_text import Program, hooks_document
from haversack.version import __version__

ABOUT = "Memory and context for AI agents that always fits the token budget"
README = """# Haversack

Memory across conversations, within a token budget. At the start of a session the plugin recalls what is known of the
project, at a prompt the memories that are about it, and at the end it keeps a digest of what was asked and done.
Everything stays in a store on this machine. `haversack uninstall` removes the plugin.
"""


def write_plugin(home: str, host: Host, program: Program) -> str:
    """Write the folder into the data folder and return its path, which the host's program is given."""
    assert host.plugin is not None
    folder = os.path.join(home, "hosts", "plugin", host.name)
    plugin = os.path.join(folder, "plugins", "haversack")
    server: dict[str, object] = {"command": program.words[0], "args": [*program.words[1:], "serve"]}
    if program.home:
        server["env"] = {"HAVERSACK_HOME": program.home}
    listed = {"name": "haversack", "source": "./plugins/haversack", "description": ABOUT, "version": __version__}
    documents: dict[str, object] = {
        os.path.join(folder, ".claude-plugin", "marketplace.json"): {
            "name": "haversack", "owner": {"name": "Haversack"}, "plugins": [listed],
        },
        os.path.join(plugin, ".claude-plugin", "plugin.json"): {
            "name": "haversack", "version": __version__, "description": ABOUT, "author": {"name": "Haversack"},
        },
        os.path.join(plugin, ".mcp.json"): {"mcpServers": {"haversack": server}},
        os.path.join(plugin, "hooks", "hooks.json"): {
            "description": ABOUT, **hooks_document(host.plugin.hooks, program, host.name),
        },
    }  # fmt: skip
    for path, document in documents.items():
        write_whole(path, (json.dumps(document, indent=2) + "\n").encode())
    write_whole(os.path.join(plugin, "README.md"), README.encode())
    return folder
