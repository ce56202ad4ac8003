import type { Server } from '../../../support/binary.ts'
import { MESSAGES, message, numbers } from './api.ts'
import type { Client } from './client.ts'
import { openInstallation } from './installation.ts'

export const messagesAt = async (server: Server, relay: Client): Promise<string[]> =>
  (await relay.walk(server, MESSAGES)).map(({ id }) => id)

/** An installation with a server and a client of its relay. */
export async function openRelay(
  stack: AsyncDisposableStack,
  place?: Parameters<typeof openInstallation>[1],
) {
  const installation = openInstallation(stack, place)
  const server = await installation.serve()
  const tenant = installation.newTenant()
  const relay = installation.newClient(tenant, 'relay')

  /** Sends messages of 1 KB one after the other; their ids in that order. */
  async function send(count: number): Promise<string[]> {
    const ids: string[] = []
    for (const n of numbers(count))
      ids.push((await relay.make(server, 'POST', MESSAGES, message(n, 'x'.repeat(900)))).id)
    return ids
  }

  return { installation, server, tenant, relay, send }
}
