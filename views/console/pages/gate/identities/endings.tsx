import { Confirm, DangerZone } from '../../../confirm.tsx'
import { ActionButton } from '../../../form/button.tsx'
import { url } from '../../../url.ts'
import type { IdentityView } from './identity.tsx'
import { IDENTITIES } from './marks.tsx'

/** What ends somebody's access, for a while or for good. */
export const Endings = (page: IdentityView) => {
  const { identity, mayChange, mayDelete } = page
  const items = [
    ...(mayChange ? [identity.state === 'active' ? deactivation(page) : activation(page)] : []),
    ...(mayDelete ? [deletion(page)] : []),
  ]
  return items.length === 0 ? null : <DangerZone items={items} />
}

const to = ({ base, identity }: IdentityView, verb: string): string =>
  url(base, `${IDENTITIES}/${identity.id}/${verb}`)

const deactivation = (page: IdentityView) => ({
  title: 'Deactivate them',
  text: 'They cannot sign in until somebody activates them again.',
  control: (
    <Confirm
      id="deactivate"
      verb="Deactivate"
      question="Deactivate this person?"
      consequence="All their sessions and access tokens end, and do not come back with them."
      action={to(page, 'deactivate')}
    />
  ),
})

const activation = (page: IdentityView) => ({
  title: 'Activate them',
  text: 'They can sign in again.',
  control: <ActionButton action={to(page, 'activate')}>Activate</ActionButton>,
})

const deletion = (page: IdentityView) => ({
  title: 'Delete them',
  text: 'Everything that is known of them goes, but the audit log. This cannot be taken back.',
  control: (
    <Confirm
      id="delete"
      verb="Delete identity"
      question="Delete this person?"
      consequence="They are gone at once; mails and deliveries about them are cleared away behind."
      action={to(page, 'delete')}
    />
  ),
})
