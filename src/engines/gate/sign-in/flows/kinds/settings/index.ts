import type { People } from '../../../../identities/people.ts'
import { traitsOf } from '../../../../identities/present.ts'
import type { IdentityRow } from '../../../../identities/store.ts'
import { schemaOf } from '../../../../identities/traits.ts'
import type { Node } from '../../../model.ts'
import type { EnabledMethods } from '../../enabled-methods.ts'
import { fieldError } from '../../failure.ts'
import type { FlowRow } from '../../store.ts'
import type { Form } from '../../submission.ts'
import { passwordSettings, profileSettings, type Say } from '../../ui/index.ts'
import { type Kind, type Method, methodIn, type Outcome } from '../kind.ts'
import { createAccountSettings } from './account.ts'
import { createChanges } from './change.ts'
import { createConnectionSettings } from './connections.ts'
import { createSecondFactorSettings } from './second-factor.ts'

type Parts = { people: People; enabledMethods: EnabledMethods } & Parameters<
  typeof createChanges
>[0] &
  Omit<
    Parameters<typeof createAccountSettings>[0] &
      Parameters<typeof createConnectionSettings>[0] &
      Parameters<typeof createSecondFactorSettings>[0],
    'changes'
  >

/** Account settings: contract/gate, self-service flows. */
export function createSettingsKind(parts: Parts): Kind {
  const { people, enabledMethods } = parts
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
      ...(enabledMethods.secondFactor(flow) ? secondFactor.nodes(flow, person, say) : []),
    ]
  }

  const personOf = ({ tenantId, identityId }: FlowRow): IdentityRow =>
    people.existing(tenantId, identityId ?? '')

  async function submit({ session, ...submitted }: Form): Promise<Outcome> {
    if (!session) throw fieldError(4050001)
    const form = { ...submitted, session }
    switch (methodIn(form.input, 'settings', offeredBy(form.flow))) {
      case 'profile':
        return account.changeProfile(form)
      case 'password':
        return account.changePassword(form)
      case 'totp':
        return secondFactor.changeTotp(form)
      case 'lookup_secret':
        return secondFactor.changeCodes(form)
      default:
        return connections.change(form, personOf(form.flow))
    }
  }

  const offeredBy = (flow: FlowRow): Method[] => [
    'profile',
    'password',
    'oidc',
    ...(enabledMethods.secondFactor(flow) ? (['totp', 'lookup_secret'] as const) : []),
  ]

  return { nodes, submit }
}

function profileOf(person: IdentityRow) {
  const { email, display_name: displayName = '' } = traitsOf(person)
  return schemaOf(person.tenantId) === 'operator' ? { email, displayName } : { email }
}
