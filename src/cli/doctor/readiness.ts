import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Config } from '../../config/index.ts'
import { localUrl } from '../../http/urls.ts'
import { createBoundedFetch } from '../../platform/bounded-fetch.ts'
import { systemClock } from '../../platform/clock.ts'
import { type Finding, problem } from './finding.ts'

const MAX_MS = 5000
const MAX_BODY_BYTES = 64 * 1024

const Answer = Type.Object({ status: Type.String() })

/** Asks the server, because only it knows whether the database files it has open are gone. */
export async function readiness({ server }: Pick<Config, 'server'>): Promise<Finding[]> {
  if (server.port === 0) return []
  const url = localUrl(server)
  const status = await statusAt(`${url}/readyz`)
  if (!status?.startsWith('database ')) return []
  return [
    problem(
      'server',
      `the server at ${url} has lost its database (${status}): put the files back, or stop the server, ` +
        'run `gatehouse restore FILE` with the last backup, and start it',
    ),
  ]
}

/** The status that the server reports; undefined if none answers, or another server. */
async function statusAt(url: string): Promise<string | undefined> {
  const fetchBounded = createBoundedFetch({
    clock: systemClock,
    timeoutMs: MAX_MS,
    maxBodyBytes: MAX_BODY_BYTES,
  })
  try {
    const body: unknown = await (await fetchBounded(url)).json()
    return Value.Check(Answer, body) ? body.status : undefined
  } catch {
    return undefined
  }
}
