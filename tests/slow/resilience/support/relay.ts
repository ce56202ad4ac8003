import type { Server } from '../../../support/binary.ts'
import type { ReceivedRequest } from '../../../support/target.ts'
import { MESSAGES, message, numbers } from './api.ts'
import type { Client } from './client.ts'
import { openInstallation } from './installation.ts'

export const eventId = ({ headers }: ReceivedRequest): string => headers.get('webhook-id') ?? ''

export const messagesAt = async (server: Server, relay: Client): Promise<string[]> =>
  (await relay.walk(server, MESSAGES)).map(({ id }) => id)

/** An installation whose server has a relay. */
export async function openRelay(
  stack: AsyncDisposableStack,
  place?: Parameters<typeof openInstallation>[1],
) {
  const installation = openInstallation(stack, place)
  const server = await installation.serve()
  const tenant = await installation.newTenant()
  const relay = await installation.newClient(tenant, 'relay')

  /** One after the other; their ids in that order. */
  async function send(count: number): Promise<string[]> {
    const ids: string[] = []
    for (const n of numbers(count))
      ids.push((await relay.make(server, 'POST', MESSAGES, message(n, 'x'.repeat(900)))).id)
    return ids
  }

  return { installation, server, tenant, relay, send }
}
