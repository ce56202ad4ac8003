import type { Delivery } from '../../../delivery/index.ts'
import type { Clockwork } from '../../../engines/clockwork/index.ts'
import type { Passepartout } from '../../../engines/passepartout/index.ts'
import type { Relay } from '../../../engines/relay/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { Activity } from './feed-view.tsx'

/** Most events of one kind, so that a busy engine leaves room for the others. */
const OF_A_KIND = 10
const SHOWN = 12

/** Latest events in all engines of a tenant. */
export function createFeed(parts: {
  delivery: Pick<Delivery, 'readModel'>
  clockwork: Pick<Clockwork, 'readModel'>
  passepartout: Pick<Passepartout, 'records'>
  relay: Pick<Relay, 'deliveries'>
}) {
  const { delivery, clockwork, passepartout, relay } = parts

  /** Newest first. */
  function of(caller: Caller): Activity[] {
    return [...people(caller), ...runs(caller), ...logins(caller), ...deliveries(caller)]
      .toSorted((one, other) => other.at - one.at)
      .slice(0, SHOWN)
  }

  const people = ({ tenantId }: Caller): Activity[] =>
    delivery.readModel
      .newest({ tenantId, name: 'gate.live' }, OF_A_KIND)
      .map(({ id, type, payload, acceptedAt: at }) => {
        const { identity_id: identityId, payload: identity } = JSON.parse(payload).data
        const email = typeof identity.email === 'string' ? identity.email : null
        return { key: `person-${id}`, kind: 'person', at, type, identityId, email }
      })

  const runs = ({ tenantId }: Caller): Activity[] =>
    clockwork.readModel
      .latest(tenantId, OF_A_KIND)
      .map((run) => ({ key: `run-${run.id}`, kind: 'run', at: run.startedAt, run }))

  const logins = ({ tenantId, environment }: Caller): Activity[] =>
    passepartout.records
      .list({ tenantId, environment: environment ?? 'live' }, { limit: OF_A_KIND })
      .data.map((login) => ({
        key: `login-${login.id}`,
        kind: 'login',
        at: Date.parse(login.created_at),
        login,
      }))

  function deliveries(caller: Caller): Activity[] {
    const { tenantId, environment } = caller
    const latest = relay.deliveries.list(caller, { limit: OF_A_KIND }).data
    if (latest.length === 0) return []
    const stream = { tenantId, name: `relay.${environment ?? 'live'}` } as const
    const addresses = new Map(
      delivery.readModel.addresses(stream).map(({ id, url: address }) => [id, address]),
    )
    return latest.map((one) => ({
      key: `delivery-${one.id}`,
      kind: 'delivery',
      at: Date.parse(one.created_at),
      delivery: one,
      address: addresses.get(one.endpoint_id) ?? null,
    }))
  }

  return { of }
}
