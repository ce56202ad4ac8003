import { Confirm } from '../../../../views/ui/confirm.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import { notFound } from '../../../platform/errors.ts'
import { bulk, useSelection } from '../../bulk.ts'
import { type PageContext, usePage } from '../../page.tsx'
import { deviceName, methodNames, type UserSession, type UserView } from './badges.tsx'
import { userIn } from './one-user.ts'

/** Ends a session of the user in the path. */
export async function endSession(context: PageContext<'/:id'>, sessionId: string): Promise<void> {
  const { gate } = context
  const caller = context.caller('gate', 'live')
  const theirs = gate.sessions.list(caller, userIn(context).id)
  if (!theirs.some(({ id }) => id === sessionId))
    throw notFound('session not found, or already ended')
  await gate.sessions.revoke(caller, sessionId)
}

export const BULK = {
  'sessions/selected/revoke': bulk({
    right: 'change',
    verb: 'End sessions',
    noun: ['session', 'sessions'],
    done: 'ended',
    confirm:
      'They have to sign in again on these devices. Access tokens stay valid until they expire.',
    each: (context, id) => endSession(context as PageContext<'/:id'>, id),
  }),
}

/** Sessions of a user, which can be ended. */
export function Sessions({ sessions }: Pick<UserView, 'sessions'>) {
  const { may } = usePage()
  return (
    <Section
      id="sessions"
      title="Sessions"
      aside={may('change') && sessions.length > 0 && <EndAll />}
    >
      <DataTable<UserSession>
        caption="Sessions"
        rows={sessions}
        idOf={({ id }) => id}
        selection={useSelection(BULK)}
        columns={may('change') ? [...SESSION_COLUMNS, END] : SESSION_COLUMNS}
        empty={<p class="hint">No active sessions</p>}
      />
    </Section>
  )
}

const EndAll = () => (
  <Confirm
    id="revoke-all"
    verb="End all sessions"
    question="End all sessions?"
    consequence="They have to sign in again on every device. Access tokens stay valid until they expire."
    action={usePage().actionHref('sessions/revoke-all')}
  />
)

const SESSION_COLUMNS: Column<UserSession>[] = [
  { label: 'Device', cell: ({ device }) => capitalized(deviceName(device)) },
  {
    label: 'IP address',
    isMono: true,
    cell: ({ devices: [device] }) => <Text text={device?.ip_address ?? ''} />,
  },
  {
    label: 'Method',
    isWide: true,
    cell: ({ authentication_methods: methods }) =>
      capitalized(methodNames(methods.map(({ method }) => method))),
  },
  {
    label: 'Signed in',
    align: 'right',
    cell: ({ authenticated_at: at }) => <Time at={Date.parse(at)} />,
  },
  { label: 'Expires', align: 'right', cell: ({ expires_at: at }) => <Time at={Date.parse(at)} /> },
]

const END: Column<UserSession> = {
  label: 'Action',
  align: 'right',
  narrow: 'bare',
  cell: ({ id, device }) => (
    <ActionButton isSmall action={usePage().actionHref(`sessions/${id}/revoke`)}>
      End session
      <span class="unseen"> on {deviceName(device)}</span>
    </ActionButton>
  ),
}
