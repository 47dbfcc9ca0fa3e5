import asyncio


def ring_reduce_scatter(rank, size, chunks):
    async def waited(request):
        return await asyncio.get_running_loop().run_in_executor(None, request.wait)

    async def round_the_ring():
        for step in range(size - 1):
            chunk = chunks[(rank - step - 1) % size]
            buffer = torch.empty_like(chunk)
            await asyncio.gather(
                waited(dist.isend(chunks[(rank - step) % size], (rank + 1) % size)),
                waited(dist.irecv(buffer, (rank - 1) % size)),
            )
            chunk += buffer

    asyncio.run(round_the_ring())
