import type { People } from '../../../../identities/people.ts'
import { traitsOf } from '../../../../identities/present.ts'
import type { IdentityRow } from '../../../../identities/store.ts'
import { schemaOf } from '../../../../identities/traits.ts'
import type { Node } from '../../../model.ts'
import { complain } from '../../failure.ts'
import type { Offers } from '../../offers.ts'
import type { FlowRow } from '../../store.ts'
import type { Form } from '../../submission.ts'
import { passwordSettings, profileSettings, type Say } from '../../ui/index.ts'
import { type Kind, type Method, methodIn, type Outcome } from '../kind.ts'
import { createAccountSettings } from './account.ts'
import { createChanges } from './change.ts'
import { createConnectionSettings } from './connections.ts'
import { createSecondFactorSettings } from './second-factor.ts'

type Parts = { people: People; offers: Offers } & Parameters<typeof createChanges>[0] &
  Omit<
    Parameters<typeof createAccountSettings>[0] &
      Parameters<typeof createConnectionSettings>[0] &
      Parameters<typeof createSecondFactorSettings>[0],
    'changes'
  >

/** Account settings: contract/gate, self-service flows. */
export function createSettingsKind(parts: Parts): Kind {
  const { people, offers } = parts
  const changes = createChanges(parts)
  const account = createAccountSettings({ ...parts, changes })
  const connections = createConnectionSettings({ ...parts, changes })
  const secondFactor = createSecondFactorSettings({ ...parts, changes })

  function nodes(flow: FlowRow, say: Say): Node[] {
    const person = personOf(flow)
    return [
      ...profileSettings(say, profileOf(person)),
      ...passwordSettings(say),
      ...connections.nodes(flow, person, say),
      ...(offers.secondFactor(flow) ? secondFactor.nodes(flow, person, say) : []),
    ]
  }

  const personOf = ({ tenantId, identityId }: FlowRow): IdentityRow =>
    people.existing(tenantId, identityId ?? '')

  async function submit({ session, ...form }: Form): Promise<Outcome> {
    if (!session) throw complain(4050001)
    const wish = { ...form, session }
    switch (methodIn(form.input, 'settings', offeredBy(form.flow))) {
      case 'profile':
        return account.changeProfile(wish)
      case 'password':
        return account.changePassword(wish)
      case 'totp':
        return secondFactor.changeTotp(wish)
      case 'lookup_secret':
        return secondFactor.changeCodes(wish)
      default:
        return connections.change(wish, personOf(form.flow))
    }
  }

  const offeredBy = (flow: FlowRow): Method[] => [
    'profile',
    'password',
    'oidc',
    ...(offers.secondFactor(flow) ? (['totp', 'lookup_secret'] as const) : []),
  ]

  return { nodes, submit }
}

function profileOf(person: IdentityRow) {
  const { email, display_name: displayName = '' } = traitsOf(person)
  return schemaOf(person.tenantId) === 'operator' ? { email, displayName } : { email }
}
