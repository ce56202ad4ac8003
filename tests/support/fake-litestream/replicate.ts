import { chmodSync, rmSync } from 'node:fs'
import { type ReplicaConfig, within } from './replica.ts'
import { createUploads } from './uploads.ts'

const INTERVAL_MS = 200

/** Uploads a database when it has changed and when the control socket asks, until SIGTERM. */
export async function replicate({ socket, path, replica }: ReplicaConfig): Promise<never> {
  const { sync, snapshot, txid } = createUploads(path, replica)

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const isSync = request.method === 'POST' && pathname === '/sync'
    if (!isSync && pathname !== '/txid') return refused(404, 'not found')
    const asked = isSync ? await request.json() : { path: searchParams.get('path') }
    if (asked.path !== path) return refused(404, 'database not found')
    if (!isSync) return Response.json({ txid: txid() })
    const isChanged = await within((asked.timeout || 30) * 1000, sync())
    const status = isChanged ? 'synced' : 'no_change'
    return Response.json({ status, path, txid: txid(), replicated_txid: txid() })
  }

  rmSync(socket, { force: true })
  Bun.serve({
    unix: socket,
    fetch: (request, server) => {
      server.timeout(request, 0)
      return answer(request).catch(({ message }) => refused(500, message))
    },
  })
  chmodSync(socket, 0o600)
  process.once('SIGTERM', async () => {
    await sync().catch(report)
    rmSync(socket, { force: true })
    process.exit()
  })
  while (true) {
    await sync().then(snapshot).catch(report)
    await Bun.sleep(INTERVAL_MS)
  }
}

const refused = (status: number, error: string) => Response.json({ error }, { status })
const report = ({ message }: Error) => console.error(message)
