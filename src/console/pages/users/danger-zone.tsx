import { Confirm, DangerZone } from '../../../../views/ui/confirm.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { usePage } from '../../page.tsx'
import type { UserView } from './user-view.ts'

/** Deactivates, activates or deletes a user. */
export function UserDangerZone({ identity }: Pick<UserView, 'identity'>) {
  const { may, actionHref } = usePage()
  const items = [
    ...(may('change')
      ? [identity.state === 'active' ? deactivation(actionHref) : activation(actionHref)]
      : []),
    ...(may('delete') ? [deletion(actionHref)] : []),
  ]
  return items.length === 0 ? null : <DangerZone items={items} />
}

type ActionHref = (action: string) => string

const deactivation = (actionHref: ActionHref) => ({
  title: 'Deactivate user',
  text: "They can't sign in until you activate them again.",
  control: (
    <Confirm
      id="deactivate"
      verb="Deactivate user"
      question="Deactivate this user?"
      consequence="Ends all their sessions and access tokens. Activating the user again does not restore them."
      action={actionHref('deactivate')}
    />
  ),
})

const activation = (actionHref: ActionHref) => ({
  title: 'Activate user',
  text: 'They can sign in again.',
  control: <ActionButton action={actionHref('activate')}>Activate user</ActionButton>,
})

const deletion = (actionHref: ActionHref) => ({
  title: 'Delete user',
  text: "Deletes all their data except the audit log. This can't be undone.",
  control: (
    <Confirm
      id="delete"
      verb="Delete user"
      question="Delete this user?"
      consequence="The user is deleted immediately. Emails and deliveries about them are removed in the background."
      action={actionHref('delete')}
    />
  ),
})
