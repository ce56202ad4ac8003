import type { Server } from '../binary.ts'
import type { ReceivedRequest } from '../target.ts'
import { MESSAGES, message, numbers } from './api.ts'
import type { Client } from './client.ts'
import { openHouse } from './house.ts'

export const eventId = ({ headers }: ReceivedRequest): string => headers.get('webhook-id') ?? ''

export const messagesAt = async (server: Server, relay: Client): Promise<string[]> =>
  (await relay.walk(server, MESSAGES)).map(({ id }) => id)

/** A house whose server has a relay. */
export async function openRelay(
  stack: AsyncDisposableStack,
  place?: Parameters<typeof openHouse>[1],
) {
  const house = openHouse(stack, place)
  const server = await house.serve()
  const tenant = await house.newTenant()
  const relay = await house.newClient(tenant, 'relay')

  /** One after the other; their ids in that order. */
  async function send(count: number): Promise<string[]> {
    const ids: string[] = []
    for (const n of numbers(count))
      ids.push((await relay.make(server, 'POST', MESSAGES, message(n, 'x'.repeat(900)))).id)
    return ids
  }

  return { house, server, tenant, relay, send }
}
