import asyncio


def exchange(rank, size, tensor):
    out = torch.empty_like(tensor)

    async def main():
        await asyncio.gather(
            asyncio.to_thread(lambda: dist.isend(tensor, rank ^ 1).wait()),
            asyncio.to_thread(lambda: dist.irecv(out, rank ^ 1).wait()),
        )

    asyncio.run(main())
    return out
