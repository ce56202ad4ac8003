import { Confirm } from '../../../confirm.tsx'
import { type Column, DataTable } from '../../../data-table.tsx'
import { ActionButton } from '../../../form/button.tsx'
import { Section } from '../../../section.tsx'
import { Text } from '../../../text.tsx'
import { Time } from '../../../time.tsx'
import { url } from '../../../url.ts'
import { capitalized } from '../../../words.ts'
import { deviceName, IDENTITIES, methodNames } from './badges.tsx'
import type { IdentityView, SessionRow } from './identity-view.ts'

/** Sessions of a user, which can be ended. */
export const Sessions = ({ base, now, identity, sessions, mayChange }: IdentityView) => (
  <Section
    id="sessions"
    title="Sessions"
    aside={
      mayChange &&
      sessions.length > 0 && (
        <Confirm
          id="revoke-all"
          verb="End all sessions"
          question="End all sessions?"
          consequence="They have to sign in again on every device. Access tokens stay valid until they expire."
          action={url(base, `${IDENTITIES}/${identity.id}/sessions/revoke`)}
        />
      )
    }
  >
    <DataTable<SessionRow>
      caption="Sessions"
      rows={sessions}
      idOf={({ id }) => id}
      columns={[
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
          cell: ({ authenticated_at: at }) => <Time at={Date.parse(at)} now={now} />,
        },
        {
          label: 'Expires',
          align: 'right',
          cell: ({ expires_at: at }) => <Time at={Date.parse(at)} now={now} />,
        },
        ...(mayChange ? [endColumn(base, identity.id)] : []),
      ]}
      empty={<p class="hint">No active sessions</p>}
    />
  </Section>
)

const endColumn = (base: string, id: string): Column<SessionRow> => ({
  label: '',
  align: 'right',
  narrow: 'bare',
  cell: (session) => (
    <ActionButton isSmall action={url(base, `${IDENTITIES}/${id}/sessions/${session.id}/revoke`)}>
      End session
      <span class="unseen"> on {deviceName(session.device)}</span>
    </ActionButton>
  ),
})
