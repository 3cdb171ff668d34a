"""The tools of every room, each declared once, and the road every call takes."""
