import { type HourBar, HourBars } from '../../../../views/console/charts/hour-bars.tsx'
import { DataTable } from '../../../../views/console/data-table.tsx'
import { FilterBar } from '../../../../views/console/filter-bar.tsx'
import { LinkButton } from '../../../../views/console/form/button.tsx'
import { Icon } from '../../../../views/console/icons.tsx'
import { PageHead } from '../../../../views/console/page-head.tsx'
import { StatusBadge } from '../../../../views/console/status-badge.tsx'
import { FilterChips } from '../../../../views/console/tabs.tsx'
import { Text } from '../../../../views/console/text.tsx'
import { Time } from '../../../../views/console/time.tsx'
import type { Tone } from '../../../../views/console/tone.ts'
import { createNumbers, framed, HOSTILE, HOUR, MINUTE, NOW, SECOND } from './fixture.tsx'

interface Endpoint {
  id: string
  name: string
  types: string
  tone: Tone
  word: string
  rate: string
  p95: string
  last: number
  bars: HourBar[]
}

const numbers = createNumbers(3)
const beatsOf = (volume: number, failingFrom = 24): HourBar[] =>
  Array.from({ length: 24 }, (_, hour) => {
    const all =
      Math.round(volume * (0.55 + 0.45 * Math.sin((hour - 5) / 3.8))) + numbers(volume / 4)
    return hour >= failingFrom
      ? { good: 0, bad: all }
      : { good: all, bad: numbers(14) === 0 ? 2 : 0 }
  })

const endpoint = (name: string, rest: Partial<Endpoint>): Endpoint => ({
  id: name,
  name,
  types: 'All event types',
  tone: 'good',
  word: 'Active',
  rate: '100 %',
  p95: '96 ms',
  last: NOW - 40 * SECOND,
  bars: beatsOf(40),
  ...rest,
})

const ENDPOINTS: Endpoint[] = [
  endpoint('crm.nordlicht.example', {
    types: 'user.*',
    tone: 'bad',
    word: 'Failing',
    rate: '41.0 %',
    p95: '1.21 s',
    bars: beatsOf(24, 21),
    last: NOW - 2 * MINUTE,
  }),
  endpoint('hooks.shop.example', {
    types: 'order.*',
    rate: '99.9 %',
    p95: '82 ms',
    last: NOW - 4 * SECOND,
  }),
  endpoint('ledger.nordlicht.example/v2/intake', {
    types: 'invoice.paid, invoice.failed',
    rate: '100 %',
    p95: '140 ms',
    bars: beatsOf(12),
  }),
  endpoint('functions.fjord.example/on-order', {
    types: 'order.created',
    tone: 'warn',
    word: 'Slow',
    rate: '97.2 %',
    p95: '4.80 s',
    bars: beatsOf(30),
  }),
  endpoint('staging.nordlicht.example', {
    tone: 'quiet',
    word: 'Paused',
    rate: '–',
    p95: '–',
    bars: Array.from({ length: 24 }, () => ({ good: 0, bad: 0 })),
    last: NOW - 26 * HOUR,
  }),
  endpoint('search-index.internal.example', {
    types: 'product.*',
    tone: 'busy',
    word: 'Replaying',
    rate: '99.8 %',
    p95: '61 ms',
    bars: beatsOf(60),
  }),
  endpoint(HOSTILE.script, { types: HOSTILE.turned, rate: '100 %', bars: beatsOf(4) }),
  endpoint(HOSTILE.long, { types: HOSTILE.long, rate: '100 %', bars: beatsOf(9) }),
]

/** A list with filters, search and pages. */
export const endpoints = () =>
  framed(
    {
      title: 'Endpoints',
      active: 'endpoints',
      crumbs: [{ label: 'Webhooks', href: '/console/endpoints' }, { label: 'Endpoints' }],
      here: '/console/endpoints',
      flash: { tone: 'good', text: 'Replaying 1,204 messages to search-index.internal.example.' },
    },
    <>
      <PageHead
        title="Endpoints"
        state={{
          tone: 'bad',
          sentence: '5 active, 1 failing since 09:14, 1 slow, 1 paused with 118 messages held',
        }}
        action={
          <LinkButton href="/console/endpoints/new" weight="primary">
            <Icon name="plus" />
            Create endpoint
          </LinkButton>
        }
      />
      <FilterChips
        label="Status"
        tabs={[
          { label: 'All', href: '?', count: 8, isCurrent: true },
          { label: 'Failing', href: '?state=failing', count: 1, tone: 'bad' },
          { label: 'Slow', href: '?state=slow', count: 1, tone: 'warn' },
          { label: 'Paused', href: '?state=paused', count: 1 },
          { label: 'Replaying', href: '?state=replaying', count: 1 },
        ]}
      />
      <FilterBar
        action="/console/endpoints"
        search={{ label: 'Search by URL or ID' }}
        filters={[
          {
            name: 'type',
            label: 'Type',
            value: 'order.*',
            options: [
              { value: 'order.*', label: 'order.*' },
              { value: 'user.*', label: 'user.*' },
            ],
          },
          { name: 'channel', label: 'Channel', options: [{ value: 'eu', label: 'eu' }] },
        ]}
        clearHref="/console/endpoints"
      />
      <DataTable
        caption="Endpoints"
        rows={ENDPOINTS}
        hrefOf={({ id }) => `/console/endpoints/${encodeURIComponent(id.slice(0, 40))}`}
        idOf={({ id }) => id.slice(0, 12)}
        columns={[
          { label: 'Endpoint', isWide: true, cell: ({ name }) => <Text text={name} /> },
          {
            label: 'State',
            narrow: 'corner',
            cell: ({ tone, word }) => <StatusBadge tone={tone} word={word} />,
          },
          {
            label: 'Events',
            isWide: true,
            cell: ({ types }) => <Text text={types} limit={40} />,
            narrow: 'hidden',
          },
          {
            label: '24 h',
            narrow: 'bare',
            cell: ({ bars, rate }) => <HourBars bars={bars} label={`${rate} delivered in 24 h`} />,
          },
          { label: 'Delivered', align: 'right', cell: ({ rate }) => rate },
          { label: 'p95', align: 'right', cell: ({ p95 }) => p95 },
          { label: 'Last', align: 'right', cell: ({ last }) => <Time at={last} now={NOW} /> },
        ]}
        pages={{ newerHref: '?before=1', olderHref: '?after=8', extent: '8 of 41' }}
      />
    </>,
  )
