import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { Session } from '../../../engines/gate/sessions/model.ts'
import { deviceOf } from '../../../platform/device.ts'
import { usePage } from '../../page.tsx'
import { METHOD_NAMES } from './sign-in-methods.tsx'

/** A session of the operator. */
export interface SessionRow {
  id: string
  /** The session that shows the page. */
  isThis: boolean
  /** Undefined if unknown. */
  device: string | undefined
  address: string | undefined
  /** Methods used to sign in and to verify since. */
  methods: readonly string[]
  since: number
  until: number
}

export function sessionRowOf(session: Session, ownId: string): SessionRow {
  const [device] = session.devices
  const known = deviceOf(device?.user_agent ?? null)
  return {
    id: session.id,
    isThis: session.id === ownId,
    device: [known?.browser, known?.system].filter(Boolean).join(' on ') || undefined,
    address: device?.ip_address ?? undefined,
    methods: session.authentication_methods.map(({ method, provider }) => provider ?? method),
    since: Date.parse(session.issued_at),
    until: Date.parse(session.expires_at),
  }
}

export const Sessions = ({ sessions }: { sessions: readonly SessionRow[] }) => (
  <DataTable caption="Sessions" columns={COLUMNS} rows={sessions} idOf={({ id }) => id} />
)

const inWords = (methods: readonly string[]): string =>
  methods.map((method) => METHOD_NAMES[method] ?? method).join(' and ') || '–'

/** How the operator signed in to this session. */
export const wordsFor = (sessions: readonly SessionRow[]): string => {
  const own = sessions.find(({ isThis }) => isThis)
  return own ? `with ${inWords(own.methods)}.` : 'in this session.'
}

const COLUMNS: Column<SessionRow>[] = [
  { label: 'Device', isWide: true, cell: ({ device }) => device ?? 'Unknown device' },
  {
    label: 'IP address',
    isMono: true,
    cell: ({ address }) => <Text text={address ?? 'Unknown'} limit={64} />,
  },
  { label: 'Method', cell: ({ methods }) => capitalized(inWords(methods)) },
  { label: 'Signed in', align: 'right', cell: ({ since }) => <Time at={since} /> },
  { label: 'Expires', align: 'right', cell: ({ until }) => <Time at={until} /> },
  {
    label: 'Action',
    align: 'right',
    narrow: 'bare',
    cell: ({ id, isThis, device }) =>
      isThis ? (
        <StatusBadge tone="good" word="this session" />
      ) : (
        <ActionButton isSmall action={usePage().actionHref(`sessions/${id}/end`)}>
          Sign out<span class="unseen"> the session on {device ?? 'an unknown device'}</span>
        </ActionButton>
      ),
  },
]
