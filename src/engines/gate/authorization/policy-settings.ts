import type { Caller } from '../../../platform/caller.ts'
import { type Clock, isoOrNull } from '../../../platform/clock.ts'
import type { Settings, TenantSettings } from '../settings/index.ts'
import type { Policies } from '../settings/model.ts'
import type { Policy } from './policy/parse.ts'
import type { Pdp } from './policy/pdp.ts'
import { isStarterSet, STARTER_SET, starterPolicies } from './policy/starter.ts'

export type PolicySettings = ReturnType<typeof createPolicySettings>

/** The authorization policies of a tenant. */
export function createPolicySettings(parts: { clock: Clock; settings: TenantSettings; pdp: Pdp }) {
  const { clock, settings, pdp } = parts

  const get = ({ tenantId }: Caller): Policies => present(settings.of(tenantId))

  /** Replaces the policies. Null, or the text of the starter set, restores the starter set. */
  async function put(caller: Caller, text: string | null): Promise<Policies> {
    if (text !== null) pdp.check(text)
    const next = await settings.change(caller, 'policies', ({ policiesVersion }) => ({
      policies: text === null || isStarterSet(text) ? null : text,
      policiesVersion: policiesVersion + 1,
      policiesUpdatedAt: clock.now(),
    }))
    return present(next)
  }

  /** Throws `invalid` with every mistake of policies, without saving them. */
  const check = (text: string): void => void pdp.check(text)

  /** The active policies with the given names, in the order of the text. */
  function named({ tenantId }: Caller, names: readonly string[]): Pick<Policy, 'name' | 'text'>[] {
    const { policies: text } = settings.of(tenantId)
    const all = text === null || isStarterSet(text) ? starterPolicies() : pdp.check(text)
    return all.filter(({ name }) => names.includes(name))
  }

  return { get, put, check, named }
}

const present = ({ policies, policiesVersion, policiesUpdatedAt }: Settings): Policies => ({
  policies: policies ?? STARTER_SET,
  version: policiesVersion,
  is_starter_set: policies === null,
  updated_at: isoOrNull(policiesUpdatedAt),
})
