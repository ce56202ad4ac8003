import { connect, createServer, type Socket } from 'node:net'

/** Bytes that wait for a slow reader before their sender is paused. */
const MAX_WAITING = 4_194_304

/** What becomes of open connections: what is under way arrives when the cut ends, or never. */
export type Cut = 'late' | 'reset'

export type BucketProxy = Awaited<ReturnType<typeof startProxy>>

/** A TCP proxy whose answers take some time longer, and that can be cut off. */
export async function startProxy({ to, latencyMs }: { to: number; latencyMs: number }) {
  const links = new Set<{ near: Socket; far: Socket }>()
  let isCut = false

  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    const link = { near, far }
    links.add(link)
    near.setNoDelay(true)
    far.setNoDelay(true)
    near.pipe(far)
    relayLate(far, near, latencyMs)
    for (const socket of [near, far]) socket.on('error', () => {})
    near.on('close', () => isCut || far.destroy())
    far.on('close', () => links.delete(link))
    if (isCut) freeze(link)
  })
  const port = await listening(server)

  return {
    port,
    cut() {
      isCut = true
      for (const link of links) freeze(link)
    },
    restore(mode: Cut) {
      isCut = false
      for (const { near, far } of links)
        if (mode === 'reset' || near.destroyed) {
          near.destroy()
          far.destroy()
        } else {
          near.pipe(far)
          far.resume()
        }
    },
    close() {
      server.close()
      for (const { near, far } of links) {
        near.destroy()
        far.destroy()
      }
    },
  }
}

/** Nothing passes, but both ends believe that they are connected. */
function freeze({ near, far }: { near: Socket; far: Socket }) {
  near.unpipe(far)
  near.pause()
  far.pause()
}

function relayLate(far: Socket, near: Socket, latencyMs: number) {
  far.on('data', (chunk) => {
    if (near.writableLength > MAX_WAITING) {
      far.pause()
      near.once('drain', () => far.resume())
    }
    setTimeout(() => near.destroyed || near.write(chunk), latencyMs)
  })
  far.on('end', () => setTimeout(() => near.end(), latencyMs))
  far.on('close', () => setTimeout(() => near.destroy(), latencyMs))
}

function listening(server: ReturnType<typeof createServer>): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    resolve(typeof address === 'object' && address ? address.port : 0)
  })
  return promise
}
