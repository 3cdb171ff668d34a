"""From a query to ranked observations."""
