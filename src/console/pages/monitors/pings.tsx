import { ExecutionStrip } from '../../../../views/ui/charts/execution-strip.tsx'
import { BodyView } from '../../../../views/ui/json.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { duration, Time, useTimes } from '../../../../views/ui/time.tsx'
import type { Monitor, Ping } from '../../../engines/clockwork/monitors/model.ts'
import { usePage } from '../../page.tsx'
import { signalWords } from './words.ts'

/** Pings in the table. The API lists all that are kept. */
const LISTED = 25

export interface PingsView {
  monitor: Monitor
  pings: readonly Ping[]
  /** The ping whose body is shown: the one in the address, or the last that has one. */
  selected: Ping | undefined
}

/** The pings of a monitor, with their durations and the body of one. */
export function Pings({ pings, selected, monitor }: PingsView) {
  const { href } = usePage()
  const { second } = useTimes()
  const hrefOf = ({ number }: Ping) => href(`/monitors/${monitor.id}`, { ping: `${number}` })
  if (pings.length === 0) return null
  const ended = pings.filter(({ signal }) => signal === 'success' || signal === 'fail').toReversed()
  return (
    <>
      {ended.some(({ duration_ms }) => duration_ms !== null) && (
        <Section id="durations" title="Durations" isCard>
          <ExecutionStrip
            label={`Last ${ended.length} runs`}
            runs={ended.map((ping) => ({
              href: hrefOf(ping),
              when: second(Date.parse(ping.received_at)),
              outcome: ping.signal === 'fail' ? 'bad' : 'good',
              word: signalWords(ping).word,
              ...(ping.duration_ms !== null && { took: ping.duration_ms }),
              isSelected: ping.number === selected?.number,
            }))}
          />
        </Section>
      )}
      {selected && <SelectedPing ping={selected} />}
      <Section id="pings" title="Last pings">
        <DataTable
          caption="Last pings"
          columns={COLUMNS}
          rows={pings.slice(0, LISTED)}
          hrefOf={hrefOf}
          idOf={({ number }) => `ping-${number}`}
        />
      </Section>
    </>
  )
}

const COLUMNS: Column<Ping>[] = [
  { label: 'Received', isWide: true, cell: ({ received_at: at }) => <Time at={Date.parse(at)} /> },
  { label: 'Signal', narrow: 'corner', cell: (ping) => <StatusBadge {...signalWords(ping)} /> },
  {
    label: 'Duration',
    align: 'right',
    cell: ({ duration_ms }) => (duration_ms === null ? '–' : duration(duration_ms)),
  },
  {
    label: 'Run ID',
    isMono: true,
    narrow: 'hidden',
    cell: ({ run_id }) => (run_id === null ? '–' : <Text text={run_id} limit={24} />),
  },
  {
    label: 'IP address',
    isMono: true,
    narrow: 'hidden',
    cell: ({ ip_address }) => ip_address ?? '–',
  },
]

const SelectedPing = ({ ping }: { ping: Ping }) => (
  <Section
    id="ping"
    title={`Ping ${ping.number}`}
    aside={<StatusBadge {...signalWords(ping)} />}
    note={<Time at={Date.parse(ping.received_at)} />}
    isCard
  >
    {ping.body === null ? (
      <p class="hint">Without a body.</p>
    ) : (
      <BodyView title="Body" text={ping.body} />
    )}
  </Section>
)
