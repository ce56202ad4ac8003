import { serve } from '../../src/http/serve.ts'
import { createLog } from '../../src/platform/log.ts'
import { bootTestApp, type TestAppOptions } from '../support/app.ts'

const silent = createLog({ level: 'error', format: 'text', now: () => 0, write: () => {} })

/** The application behind a port, for operators with a browser. */
export async function servedApp({ port = 0, ...options }: TestAppOptions & { port?: number } = {}) {
  const app = await bootTestApp(options)
  const listener = serve(app.app, { host: '127.0.0.1', port }, silent)
  return {
    ...app,
    url: listener.url,
    setUpUrl: async () => `${listener.url}/setup/${await app.operators.links.issueSetUp()}`,
    [Symbol.asyncDispose]: async () => {
      // A page that somebody has open would keep the server from ending.
      app.live.stop()
      await listener.stop()
      await app[Symbol.asyncDispose]()
    },
  }
}

export type ServedApp = Awaited<ReturnType<typeof servedApp>>

export const ACCOUNT = {
  name: 'Ada Berg',
  email: 'ada@example.com',
  password: 'correct horse battery',
}

/** What the audit log has, the oldest first. */
export const audited = ({ db }: Pick<ServedApp, 'db'>, action: string) =>
  db.client
    .query<{ actor_kind: string; actor_id: string; tenant_id: string; object: string }, [string]>(
      'SELECT actor_kind, actor_id, tenant_id, object FROM audit_log WHERE action = ? ORDER BY seq',
    )
    .all(action)
