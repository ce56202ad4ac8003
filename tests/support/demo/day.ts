import type { Chance } from './chance.ts'
import { addPerson, PASSWORD, REGULARS } from './customers.ts'
import { CUSTOMERS, DEVICES, emailOf } from './people.ts'
import type { Premises } from './premises.ts'

const MINUTE = 60_000

/** What customers do, by chance; `people` are their ids, to which newcomers are added. */
export function createDay(premises: Premises, chance: Chance, people: string[]) {
  const { app, api, gateKey } = premises
  const { clock, db } = app
  return { liveUntil }

  /** What happens in an hour is spread over it: orders, sign-ins, questions of what one may do. */
  async function liveUntil(end: number) {
    while (clock.now() < end) {
      const hour = new Date(clock.now()).getUTCHours()
      const busy = hour >= 7 && hour < 22 ? 1 : 0.2
      await clock.advanceTo(Math.min(end, clock.now() + chance.between(2, 14) * MINUTE))
      if (chance.happens(busy * 0.8)) await order()
      if (chance.happens(busy * 0.5)) await signIn()
      if (chance.happens(busy * 0.4)) await ask()
      const newcomer = CUSTOMERS[people.length]
      if (newcomer && chance.happens(busy * 0.05))
        people.push(await addPerson(premises, chance, newcomer))
    }
  }

  async function order() {
    const number = chance.between(20_100, 20_999)
    const at = new Date(clock.now()).toISOString()
    const name = chance.oneOf(REGULARS)
    const send = (type: string, payload: object) =>
      api.relay.post('/v1/relay/messages', { event_type: type, payload })
    if (chance.happens(0.25)) {
      await send('customer.updated', { customer: emailOf(name), newsletter: chance.happens(0.6) })
      return
    }
    const items = [{ isbn: '9780141439518', title: 'Pride and Prejudice', quantity: 1 }]
    const total = { amount: chance.between(900, 9400), currency: 'EUR' }
    await send('order.paid', { order: number, customer: emailOf(name), items, total, paid_at: at })
    if (chance.happens(0.5)) await send('order.shipped', { order: number, carrier: 'DHL' })
    if (chance.happens(0.08)) await send('refund.issued', { order: number, total })
  }

  async function signIn() {
    const { ipAddress, userAgent } = chance.oneOf(DEVICES)
    const headers = {
      authorization: `Bearer ${gateKey}`,
      'content-type': 'application/json',
      'user-agent': userAgent,
    }
    const { id, ui } = (await app.raw('/v1/gate/auth/login', { headers })).body
    const inputs: { name: string; value: string }[] = ui.nodes.map(
      (node: { attributes: { name: string; value: string } }) => node.attributes,
    )
    const token = inputs.find(({ name }) => name === 'csrf_token')?.value
    const identifier = emailOf(chance.oneOf(REGULARS))
    const signedIn = await app.raw(`/auth/self-service/login?flow=${id}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        method: 'password',
        identifier,
        password: PASSWORD,
        csrf_token: token,
      }),
    })
    // Nobody has an address without a network.
    db.client
      .query('UPDATE gate_sessions SET ip_address = ? WHERE id = ?')
      .run(ipAddress, signedIn.body.session.id)
  }

  async function ask() {
    await api.gate.post('/v1/gate/authorize', {
      subject: chance.oneOf(people),
      action: chance.oneOf(['orders.read', 'orders.read', 'invoices.read', 'orders.delete']),
      resource: `order:${chance.between(20_100, 20_999)}`,
    })
  }
}
