"""English stop words: they carry no information about the topic of a text."""

_STOP_WORDS = """
a about after again all also am an and any are aren as at be because been before being both but by can
cannot could couldn did didn do does doesn doing don done each either few for from further get gets
getting give got had hadn has hasn have haven having he her here hers him his how i if in into is isn it
its itself just let ll me might more most must mustn my myself need no nor not now of off on once only or
other our ours out over own please re s same shall she should shouldn show so some such t tell than that
the their them then there these they this those through to too under until up us ve very was wasn we were
weren what when where whether which while who whom whose why will with won would wouldn yes you your yours
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
