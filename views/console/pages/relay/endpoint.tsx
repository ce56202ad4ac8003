import type { ReplayRest } from '../../../../src/delivery/store/endpoint-summaries.ts'
import type { Waiting } from '../../../../src/engines/relay/endpoint-summaries.ts'
import type { Endpoint, Stats } from '../../../../src/engines/relay/model/endpoints.ts'
import type { Fields } from '../../../../src/http/body.ts'
import type {
  Delivery,
  DeliveryDetail,
  TestResult,
} from '../../../../src/http/delivery-log/model.ts'
import { HourBars } from '../../charts/hour-bars.tsx'
import { Sparkline } from '../../charts/sparkline.tsx'
import { DataTable } from '../../data-table.tsx'
import { LinkButton } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { attemptsOf, hourBarsOf, shareOf } from '../../hours.ts'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { Text } from '../../text.tsx'
import { Tiles } from '../../tiles.tsx'
import { duration } from '../../time.tsx'
import { url } from '../../url.ts'
import { counted, withoutScheme } from '../../words.ts'
import { deliveryColumns } from './deliveries.tsx'
import { EndpointControls } from './endpoint-controls.tsx'
import { EndpointFacts } from './endpoint-facts.tsx'
import { TestAnswer, TestForm } from './endpoint-test.tsx'
import { heldWords } from './endpoint-waiting.tsx'
import { FailureStory, lastFailureOf } from './failure-story.tsx'
import { averagesOf, p95Of, sumOf } from './hours.ts'
import { ReplayProgress } from './replay-progress.tsx'
import { Clock, ENDPOINT_TONES, Moment, stateOf } from './state.tsx'

interface Props {
  base: string
  endpoint: Endpoint
  /** Hours of the last day with attempts. */
  hours: Stats['data']
  waiting: Waiting
  /** When the old secret expires, during a rotation. */
  overlapEnd: string | null
  /** Delivery of the last attempt, if it failed. */
  failed: DeliveryDetail | undefined
  recent: readonly Delivery[]
  /** A replay that was just started: its number of messages, and the remaining ones. */
  replay: { count: number; rest: ReplayRest } | undefined
  /** Result of a test event. */
  test?: TestResult
  values?: Fields
  errors?: readonly FormError[]
  isTest: boolean
  mayChange: boolean
  mayDelete: boolean
  now: number
}

/** One endpoint: state, last failure, configuration, deliveries and actions. */
export const EndpointPage = (page: Props) => {
  const { base, endpoint, now } = page
  const own = url(base, `/console/endpoints/${endpoint.id}`)
  const logHref = (of: { status?: string } = {}) =>
    url(base, '/console/deliveries', { endpoint: endpoint.id, ...of })
  return (
    <>
      <PageHead
        title={<Text text={withoutScheme(endpoint.url)} limit={80} />}
        state={{ tone: ENDPOINT_TONES[stateOf(endpoint)], sentence: sentenceOn(page) }}
        action={
          page.mayChange && (
            <LinkButton weight="primary" href={`${own}/edit`}>
              Edit endpoint
            </LinkButton>
          )
        }
        aside={
          <>
            {page.mayChange && !page.isTest && (
              <LinkButton href={`${own}/replay`}>Replay messages</LinkButton>
            )}
            <LinkButton href={logHref()}>Delivery log</LinkButton>
          </>
        }
      />
      {page.replay && (
        <ReplayProgress
          {...page.replay}
          here={url(base, `/console/endpoints/${endpoint.id}`, { replayed: page.replay.count })}
          logHref={logHref()}
        />
      )}
      {page.test && <TestAnswer test={page.test} />}
      <Tiles label="Last 24 hours" tiles={tilesOf(page, logHref({ status: 'failed' }))} />
      {page.failed && <LastFailure {...page} failed={page.failed} />}
      <EndpointFacts {...page} />
      <Section
        id="recent"
        title="Recent deliveries"
        aside={
          <LinkButton isSmall href={logHref()}>
            View all
          </LinkButton>
        }
      >
        <DataTable
          caption="Recent deliveries"
          rows={page.recent}
          hrefOf={({ id }) => url(base, `/console/deliveries/${id}`)}
          columns={deliveryColumns({ base, now })}
          empty={<p class="quietrow">No deliveries yet</p>}
        />
      </Section>
      {page.mayChange && <TestForm {...page} action={`${own}/test`} />}
      {page.mayChange && <EndpointControls {...page} held={page.waiting.held} />}
    </>
  )
}

const LastFailure = (page: Props & { failed: DeliveryDetail }) => {
  const last = lastFailureOf(page.failed)
  return (
    last && (
      <FailureStory
        {...page}
        delivery={page.failed}
        last={last}
        title="Last attempt"
        isLinked
        canResend={page.mayChange && page.endpoint.active}
      />
    )
  )
}

function sentenceOn({ endpoint, waiting, now }: Props) {
  const { health, disabled_reason: reason, updated_at: updated } = endpoint
  const held = waiting.held > 0 && `${heldWords(waiting.held)} held.`
  switch (stateOf(endpoint)) {
    case 'paused':
      return <>Paused. Deliveries are held{held ? `: ${held}` : '.'}</>
    case 'stopped':
      return (
        <>
          Disabled <Moment at={updated} now={now} />:{' '}
          {reason === 'gone' ? 'it returned 410 Gone.' : 'all deliveries failed for days.'} {held}
        </>
      )
    case 'failing':
      return (
        <>
          Failing since <Clock at={health.failing_since ?? updated} now={now} />:{' '}
          {counted(health.failures_in_a_row, 'failed attempt')} in a row.
          {waiting.next_attempt_at !== null && (
            <>
              {' '}
              Next attempt <Moment at={waiting.next_attempt_at} now={now} />
              {health.open_until === null ? '.' : '; until then, deliveries are held.'}
            </>
          )}{' '}
          {held}
        </>
      )
    case 'active':
      return health.breaker === 'recovering' ? (
        <>Recovering. Held deliveries are being sent. {held}</>
      ) : (
        'Active'
      )
  }
}

const tilesOf = ({ hours, now }: Props, failedHref: string) => [
  {
    label: 'Attempts in 24 h',
    value: attemptsOf(hours).toLocaleString('en'),
    picture: <HourBars bars={hourBarsOf(hours, now)} label="Attempts by hour" />,
  },
  {
    label: 'Delivered',
    value: shareOf(hours),
    compared: { text: `${sumOf(hours, 'failed').toLocaleString('en')} attempts failed` },
  },
  {
    label: 'Failed',
    value: sumOf(hours, 'exhausted').toLocaleString('en'),
    compared: { text: `${sumOf(hours, 'cancelled').toLocaleString('en')} cancelled` },
    href: failedHref,
  },
  {
    label: 'Response time, p95',
    value: p95Of(hours),
    ...(hours.length > 0 && {
      compared: { text: `Slowest ${duration(Math.max(...hours.map((hour) => hour.slowest_ms)))}` },
    }),
    picture: <Sparkline values={averagesOf(hours, now)} label="Average response time by hour" />,
  },
]
