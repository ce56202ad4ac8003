import type { ReplayRest } from '../../../../src/delivery/store/endpoint-looks.ts'
import type { Waiting } from '../../../../src/engines/relay/endpoint-looks.ts'
import type { Endpoint, Stats } from '../../../../src/engines/relay/model/endpoints.ts'
import type { Fields } from '../../../../src/http/body.ts'
import type {
  Delivery,
  DeliveryDetail,
  TestResult,
} from '../../../../src/http/delivery-log/model.ts'
import { Pulse } from '../../charts/pulse.tsx'
import { Sparkline } from '../../charts/sparkline.tsx'
import { DataTable } from '../../data-table.tsx'
import { LinkButton } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { attemptsOf, beatsOf, shareOf } from '../../hours.ts'
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

interface Look {
  base: string
  endpoint: Endpoint
  /** The hours of the last day in which anything was sent. */
  hours: Stats['data']
  waiting: Waiting
  /** Until when a secret that was replaced signs as well. */
  overlapEnd: string | null
  /** The delivery that was tried last, where it fails. */
  failed: DeliveryDetail | undefined
  recent: readonly Delivery[]
  /** One that was just begun: how many messages it sends, and what of that is left. */
  replay: { count: number; rest: ReplayRest } | undefined
  /** The answer to an event that was just sent for trying. */
  test?: TestResult
  typed?: Fields
  errors?: readonly FormError[]
  isTest: boolean
  mayChange: boolean
  mayDelete: boolean
  now: number
}

/** One endpoint: whether it answers, why not, and what can be done about it. */
export const EndpointPage = (page: Look) => {
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
              <LinkButton href={`${own}/replay`}>Replay</LinkButton>
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
      <Tiles label="The last 24 hours" tiles={tilesOf(page, logHref({ status: 'failed' }))} />
      {page.failed && <LastFailure {...page} failed={page.failed} />}
      <EndpointFacts {...page} />
      <Section
        id="recent"
        title="Recent deliveries"
        aside={
          <LinkButton isSmall href={logHref()}>
            See all
          </LinkButton>
        }
      >
        <DataTable
          caption="Recent deliveries"
          rows={page.recent}
          hrefOf={({ id }) => url(base, `/console/deliveries/${id}`)}
          columns={deliveryColumns({ base, now })}
          empty={<p class="quietline">Nothing has come for it yet.</p>}
        />
      </Section>
      {page.mayChange && <TestForm {...page} action={`${own}/test`} />}
      {page.mayChange && <EndpointControls {...page} held={page.waiting.held} />}
    </>
  )
}

const LastFailure = (page: Look & { failed: DeliveryDetail }) => {
  const last = lastFailureOf(page.failed)
  return (
    last && (
      <FailureStory
        {...page}
        delivery={page.failed}
        last={last}
        title="The last attempt"
        isLinked
        canResend={page.mayChange && page.endpoint.active}
      />
    )
  )
}

function sentenceOn({ endpoint, waiting, now }: Look) {
  const { health, disabled_reason: reason, updated_at: updated } = endpoint
  const held = waiting.held > 0 && `${heldWords(waiting.held)} held.`
  switch (stateOf(endpoint)) {
    case 'paused':
      return <>Paused. What comes for it is held{held ? `: ${held}` : '.'}</>
    case 'stopped':
      return (
        <>
          Stopped <Moment at={updated} now={now} />:{' '}
          {reason === 'gone'
            ? 'it answered that it is gone for good (410).'
            : 'nothing has arrived there for days.'}{' '}
          {held}
        </>
      )
    case 'failing':
      return (
        <>
          Failing since <Clock at={health.failing_since ?? updated} now={now} />:{' '}
          {counted(health.failures_in_a_row, 'attempt')} in a row.
          {waiting.next_attempt_at !== null && (
            <>
              {' '}
              The next attempt is <Moment at={waiting.next_attempt_at} now={now} />
              {health.open_until === null ? '.' : '; until then deliveries are held.'}
            </>
          )}{' '}
          {held}
        </>
      )
    case 'active':
      return health.breaker === 'recovering' ? (
        <>Answers again; what was held is being sent. {held}</>
      ) : (
        'Active.'
      )
  }
}

const tilesOf = ({ hours, now }: Look, failedHref: string) => [
  {
    label: 'Attempts in 24 h',
    value: attemptsOf(hours).toLocaleString('en'),
    picture: <Pulse beats={beatsOf(hours, now)} label="Attempts by the hour" />,
  },
  {
    label: 'Delivered',
    value: shareOf(hours),
    compared: { text: `${sumOf(hours, 'failed').toLocaleString('en')} attempts failed` },
  },
  {
    label: 'Given up',
    value: sumOf(hours, 'exhausted').toLocaleString('en'),
    compared: { text: `${sumOf(hours, 'cancelled').toLocaleString('en')} cancelled` },
    href: failedHref,
  },
  {
    label: 'Answers, p95',
    value: p95Of(hours),
    ...(hours.length > 0 && {
      compared: {
        text: `slowest ${duration(Math.max(...hours.map((hour) => hour.slowest_ms)))}`,
      },
    }),
    picture: (
      <Sparkline values={averagesOf(hours, now)} label="Average time of an answer, by the hour" />
    ),
  },
]
