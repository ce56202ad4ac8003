import {
  attemptsOf,
  HourBars,
  hourBarsOf,
  shareOf,
} from '../../../../views/ui/charts/hour-bars.tsx'
import { Sparkline } from '../../../../views/ui/charts/meter.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Tiles } from '../../../../views/ui/tiles.tsx'
import { duration } from '../../../../views/ui/time.tsx'
import { counted, numeral, withoutScheme } from '../../../../views/ui/words.ts'
import type { ReplayRest } from '../../../delivery/queries.ts'
import type { Relay } from '../../../engines/relay/index.ts'
import type { Endpoint, Stats } from '../../../engines/relay/model/endpoints.ts'
import type { Waiting } from '../../../engines/relay/queries.ts'
import type { Delivery, DeliveryDetail, TestResult } from '../../../http/delivery-log/model.ts'
import type { Caller } from '../../../platform/caller.ts'
import { SECOND_MS } from '../../../platform/durations.ts'
import { trimmedText } from '../../form.ts'
import { page, shown, usePage } from '../../page.tsx'
import { gracePeriodIn } from '../grace-period.tsx'
import { averagesOf, p95Of, sumOf } from './day-attempts.tsx'
import { deliveryColumns } from './delivery-list.tsx'
import { maskSignatures } from './delivery-view.tsx'
import {
  EndpointControls,
  heldIn,
  heldWords,
  RotatedSecret,
  resumed,
  TestAnswer,
  TestForm,
} from './endpoint-controls.tsx'
import { EndpointFacts } from './endpoint-facts.tsx'
import { FailureStory, lastFailureOf } from './failure-story.tsx'
import { replayedIn } from './fields.ts'
import { ReplayProgress } from './replay.tsx'
import { Clock, ENDPOINT_TONES, Moment, receiverOf, stateOf } from './state.tsx'

const RECENT = 10

interface EndpointView {
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
  /** Result of a test event, which is not stored. */
  test: TestResult | undefined
}

/** One endpoint: state, last failure, configuration, deliveries and actions. */
export const endpointPage = page({
  path: '/endpoints/:id',
  section: 'endpoints',
  hasEnvironments: true,
  right: 'read',

  load(context): EndpointView {
    const { relay, environment, params, query, result } = context
    const { endpoints, queries, deliveries } = relay
    const caller = context.caller('relay', environment)
    const endpoint = endpoints.get(caller, params.id)
    const replayed = replayedIn(query)
    return {
      endpoint,
      hours: queries.dayOf(endpoint),
      waiting: queries.waitingFor(endpoint),
      overlapEnd: endpoints.overlapEnd(caller, params.id),
      failed: failureAt(relay, caller, endpoint),
      recent: deliveries.list(caller, { limit: RECENT, endpoint_id: params.id }).data,
      replay:
        replayed === undefined
          ? undefined
          : { count: replayed, rest: queries.replayRest(caller, params.id) },
      test: result as TestResult | undefined,
    }
  },

  title: ({ endpoint }) => withoutScheme(endpoint.url),

  view(view) {
    const { endpoint, replay, test, failed, hours } = view
    const { href, may, environment, now } = usePage()
    const own = href(`/endpoints/${endpoint.id}`)
    const logHref = (of: { status?: string } = {}) =>
      href('/deliveries', { endpoint: endpoint.id, ...of })
    return (
      <>
        <PageHead
          title={<Text text={withoutScheme(endpoint.url)} limit={80} />}
          state={{ tone: ENDPOINT_TONES[stateOf(endpoint)], sentence: sentenceOn(view) }}
          action={
            may('change') && (
              <LinkButton weight="primary" href={`${own}/edit`}>
                Edit endpoint
              </LinkButton>
            )
          }
          aside={
            <>
              {may('change') && environment !== 'test' && (
                <LinkButton href={`${own}/replay`}>Replay messages</LinkButton>
              )}
              <LinkButton href={logHref()}>Delivery log</LinkButton>
            </>
          }
        />
        {replay && (
          <ReplayProgress
            {...replay}
            here={href(`/endpoints/${endpoint.id}`, { replayed: replay.count })}
            logHref={logHref()}
          />
        )}
        {test && <TestAnswer test={test} />}
        <Tiles label="Last 24 hours" tiles={tilesOf(hours, now, logHref({ status: 'failed' }))} />
        {failed && <LastFailure endpoint={endpoint} failed={failed} />}
        <EndpointFacts {...view} />
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
            rows={view.recent}
            hrefOf={({ id }) => href(`/deliveries/${id}`)}
            columns={deliveryColumns()}
            empty={<p class="quietrow">No deliveries yet</p>}
          />
        </Section>
        {may('change') && <TestForm />}
        {may('change') && (
          <EndpointControls noun="endpoint" active={endpoint.active} held={view.waiting.held} />
        )}
      </>
    )
  },

  actions: {
    test: {
      right: 'change',
      form: { event_type: 'event_type' },
      async run({ relay, db, audit, tenantId, actor, caller, environment, params, fields }) {
        const by = caller('relay', environment)
        const type = trimmedText(fields, 'event_type')
        const wanted = type === '' ? null : { event_type: type }
        relay.endpoints.get(by, params.id)
        const result = await relay.endpoints.test(by, params.id, wanted, undefined)
        const object = `endpoint:${params.id}`
        await db.commitFor(tenantId, () =>
          audit.record({ tenantId, actor, action: 'endpoint.tested', object }),
        )
        return { again: true, result }
      },
    },
    rotate: {
      right: 'change',
      /** Shows the secret in the response to the form, because it is not stored. */
      async run({ relay, caller, environment, params, fields, href }) {
        const by = caller('relay', environment)
        const graceMs = gracePeriodIn(fields)
        const { secret, previous_expires_at: until } = await relay.endpoints.rotate(by, params.id, {
          grace_seconds: graceMs / SECOND_MS,
        })
        const doneHref = href(`/endpoints/${params.id}`)
        return shown(
          'Secret rotated',
          <RotatedSecret secret={secret} until={until} doneHref={doneHref} />,
        )
      },
    },
    pause: {
      right: 'change',
      flash: { tone: 'quiet', text: 'Endpoint paused. Deliveries are held.' },
      async run({ relay, caller, environment, params }) {
        await relay.endpoints.update(caller('relay', environment), params.id, { active: false })
      },
    },
    resume: {
      right: 'change',
      flash: resumed('endpoint'),
      async run({ relay, caller, environment, params, fields }) {
        const held = heldIn(fields)
        const by = caller('relay', environment)
        await relay.endpoints.update(by, params.id, { active: true, held })
        return { flash: held }
      },
    },
    delete: {
      right: 'delete',
      flash: { tone: 'quiet', text: 'Endpoint deleted.' },
      async run({ relay, caller, environment, params }) {
        await relay.endpoints.remove(caller('relay', environment), params.id)
        return { to: '/endpoints' }
      },
    },
  },
})

/** Delivery of the last failed attempt. */
function failureAt(
  { queries, deliveries }: Relay,
  caller: Caller,
  endpoint: Endpoint,
): DeliveryDetail | undefined {
  if (endpoint.health.failing_since === null) return undefined
  const id = queries.lastTriedAt(endpoint)
  if (id === undefined) return undefined
  const found = deliveries.get(caller, id)
  return caller.isReadOnly ? maskSignatures(found) : found
}

function LastFailure({ endpoint, failed }: { endpoint: Endpoint; failed: DeliveryDetail }) {
  const last = lastFailureOf(failed)
  return (
    last && (
      <FailureStory
        receiver={receiverOf(endpoint)}
        own={usePage().href(`/deliveries/${failed.id}`)}
        delivery={failed}
        last={last}
        title="Last attempt"
        isLinked
      />
    )
  )
}

function sentenceOn({ endpoint, waiting }: EndpointView) {
  const { health, disabled_reason: reason, updated_at: updated } = endpoint
  const held = waiting.held > 0 && `${heldWords(waiting.held)} held.`
  switch (stateOf(endpoint)) {
    case 'paused':
      return <>Paused. Deliveries are held{held ? `: ${held}` : '.'}</>
    case 'stopped':
      return (
        <>
          Disabled <Moment at={updated} />:{' '}
          {reason === 'gone' ? 'it returned 410 Gone.' : 'all deliveries failed for days.'} {held}
        </>
      )
    case 'failing':
      return (
        <>
          Failing since <Clock at={health.failing_since ?? updated} />:{' '}
          {counted(health.failures_in_a_row, 'failed attempt')} in a row.
          {waiting.next_attempt_at !== null && (
            <>
              {' '}
              Next attempt <Moment at={waiting.next_attempt_at} />
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

const tilesOf = (hours: Stats['data'], now: number, failedHref: string) => [
  {
    label: 'Attempts in 24 h',
    value: numeral(attemptsOf(hours)),
    picture: <HourBars bars={hourBarsOf(hours, now)} label="Attempts by hour" />,
  },
  {
    label: 'Delivered',
    value: shareOf(hours),
    compared: { text: `${numeral(sumOf(hours, 'failed'))} attempts failed` },
  },
  {
    label: 'Failed',
    value: numeral(sumOf(hours, 'exhausted')),
    compared: { text: `${numeral(sumOf(hours, 'cancelled'))} cancelled` },
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
