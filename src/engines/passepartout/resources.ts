import type { Resources } from '../../platform/resources.ts'
import type { Store } from './store/index.ts'

/** Registers the engine's resources of a tenant. */
export function addPassepartoutResources(resources: Resources, { attempts, bots, people }: Store) {
  resources.add('passepartout:user', (tenantId, id) => people.find(tenantId, id) !== undefined)
  resources.add('passepartout:login', (tenantId, id) => attempts.find(tenantId, id) !== undefined)
  resources.add('passepartout:bot', (tenantId, id) => bots.byId(id)?.tenantId === tenantId)
}
