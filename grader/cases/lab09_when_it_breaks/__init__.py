"""Hidden cases of lab 09.

Roll calls of one rank and of five, late ones, two absent in a row, every store; workers that come
while a rendezvous closes, on stores that are slow for some of them; logs with ties and ended ones;
every way in which tensors can differ; failed saves of every rank, old files in the way; folders
with all that is no checkpoint; more and fewer ranks than have saved.

What happens in a case is fixed, and to whom the secret decides: which ranks are absent, how workers
and steps are called, in which order situations come.
"""
