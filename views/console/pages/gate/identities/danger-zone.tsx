import { Confirm, DangerZone } from '../../../confirm.tsx'
import { ActionButton } from '../../../form/button.tsx'
import { url } from '../../../url.ts'
import { IDENTITIES } from './badges.tsx'
import type { IdentityView } from './identity-view.ts'

/** Deactivates, activates or deletes a user. */
export const IdentityDangerZone = (page: IdentityView) => {
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
  title: 'Deactivate user',
  text: "They can't sign in until you activate them again.",
  control: (
    <Confirm
      id="deactivate"
      verb="Deactivate user"
      question="Deactivate this user?"
      consequence="Ends all their sessions and access tokens. Activating the user again does not restore them."
      action={to(page, 'deactivate')}
    />
  ),
})

const activation = (page: IdentityView) => ({
  title: 'Activate user',
  text: 'They can sign in again.',
  control: <ActionButton action={to(page, 'activate')}>Activate user</ActionButton>,
})

const deletion = (page: IdentityView) => ({
  title: 'Delete user',
  text: "Deletes all their data except the audit log. This can't be undone.",
  control: (
    <Confirm
      id="delete"
      verb="Delete user"
      question="Delete this user?"
      consequence="The user is deleted immediately. Emails and deliveries about them are removed in the background."
      action={to(page, 'delete')}
    />
  ),
})
