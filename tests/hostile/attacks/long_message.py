# tries: an exception of 100 MB, with escapes for terminals and markup for pages
# status: error

def relay(rank, size, tensor):
    raise RuntimeError("</pre><script>alert(1)</script>\x1b]0;owned\x07\x1b[2J\r\n=cmd()" + "x" * 100_000_000)
