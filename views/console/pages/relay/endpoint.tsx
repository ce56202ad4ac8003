import type { Endpoint, Stats } from '../../../../src/engines/relay/model/endpoints.ts'
import type { Fields } from '../../../../src/http/body.ts'
import type { Delivery, TestResult } from '../../../../src/http/delivery-log/model.ts'
import { Pulse } from '../../charts/pulse.tsx'
import { Sparkline } from '../../charts/sparkline.tsx'
import { TimingBar } from '../../charts/timing-bar.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { DataTable } from '../../data-table.tsx'
import { Facts } from '../../facts.tsx'
import { Button, LinkButton } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { Select } from '../../form/select.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { LongText, Text } from '../../text.tsx'
import { Tiles } from '../../tiles.tsx'
import { duration } from '../../time.tsx'
import { url } from '../../url.ts'
import { deliveryColumns } from './deliveries.tsx'
import { typesOf } from './endpoints.tsx'
import { Exchange, wordsOf } from './exchange.tsx'
import { averagesOf, beatsOf, shareOf, sumOf } from './hours.ts'
import { Clock, counted, ENDPOINT_TONES, Moment, stateOf, textIn, withoutScheme } from './state.tsx'

interface Look {
  base: string
  endpoint: Endpoint
  /** The hours of the last day in which anything was sent. */
  hours: Stats['data']
  recent: readonly Delivery[]
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
  const { base, endpoint, hours, now } = page
  const own = url(base, `/console/endpoints/${endpoint.id}`)
  return (
    <>
      <PageHead
        title={<Text text={withoutScheme(endpoint.url)} limit={80} />}
        state={{ tone: ENDPOINT_TONES[stateOf(endpoint)], sentence: sentenceOn(endpoint, now) }}
        action={
          page.mayChange && (
            <LinkButton weight="primary" href={`${own}/edit`}>
              Edit endpoint
            </LinkButton>
          )
        }
        aside={
          page.mayChange && !page.isTest && <LinkButton href={`${own}/replay`}>Replay</LinkButton>
        }
      />
      {page.test && <Answer test={page.test} />}
      <Tiles label="The last 24 hours" tiles={tilesOf(hours, now)} />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['URL', <LongText text={endpoint.url} />],
            ['Description', endpoint.description ? <LongText text={endpoint.description} /> : null],
            ['Events', <LongText text={typesOf(endpoint)} />],
            ['Channels', <LongText text={endpoint.channels.join(', ') || 'all'} />],
            ['Body', endpoint.format],
            ...headersOf(endpoint),
            ['Id', <Id id={endpoint.id} what="endpoint id" />],
            ['Created', <Moment at={endpoint.created_at} now={now} />],
            ['Changed', <Moment at={endpoint.updated_at} now={now} />],
          ]}
        />
      </Section>
      {page.mayChange && <TestForm {...page} action={`${own}/test`} />}
      <Section
        id="recent"
        title="Recent deliveries"
        aside={
          <LinkButton isSmall href={url(base, '/console/deliveries', { endpoint: endpoint.id })}>
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
      {page.mayChange && <DangerZone items={[...controlsOf(page, own)]} />}
    </>
  )
}

const headersOf = ({ headers }: Endpoint) =>
  Object.keys(headers).length === 0
    ? []
    : ([
        [
          'Headers',
          <LongText
            text={Object.entries(headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
          />,
        ],
      ] as const)

function sentenceOn(endpoint: Endpoint, now: number) {
  const { health, disabled_reason: reason, updated_at: updated } = endpoint
  switch (stateOf(endpoint)) {
    case 'paused':
      return 'Paused. What comes for it is held.'
    case 'stopped':
      return (
        <>
          Stopped <Moment at={updated} now={now} />:{' '}
          {reason === 'gone'
            ? 'it answered that it is gone for good (410).'
            : 'nothing has arrived there for days.'}
        </>
      )
    case 'failing':
      return (
        <>
          Failing since <Clock at={health.failing_since ?? updated} now={now} />:{' '}
          {counted(health.failures_in_a_row, 'attempt')} in a row.
          {health.open_until !== null && (
            <>
              {' '}
              The next attempt is <Moment at={health.open_until} now={now} />; until then deliveries
              are held.
            </>
          )}
        </>
      )
    case 'active':
      return health.breaker === 'recovering'
        ? 'Answers again; what was held is being sent.'
        : 'Active.'
  }
}

const tilesOf = (hours: Look['hours'], now: number) => {
  const beats = beatsOf(hours, now)
  const averages = averagesOf(hours, now)
  return [
    {
      label: 'Attempts in 24 h',
      value: (sumOf(hours, 'succeeded') + sumOf(hours, 'failed')).toLocaleString('en'),
      picture: <Pulse beats={beats} label="Attempts by the hour" />,
    },
    {
      label: 'Delivered',
      value: shareOf(hours),
      compared: { text: `${sumOf(hours, 'failed').toLocaleString('en')} failed` },
    },
    {
      label: 'Given up',
      value: sumOf(hours, 'exhausted').toLocaleString('en'),
      compared: { text: `${sumOf(hours, 'cancelled').toLocaleString('en')} cancelled` },
    },
    {
      label: 'Slowest answer',
      value: hours.length === 0 ? '–' : duration(Math.max(...hours.map((hour) => hour.slowest_ms))),
      picture: <Sparkline values={averages} label="Average time of an answer, by the hour" />,
    },
  ]
}

/** What came of an event that was sent for trying: nothing of it is kept. */
const Answer = ({ test }: { test: TestResult }) => (
  <Section id="answer" title="Answer to the test event" note="shown once, kept nowhere">
    <div class="stack">
      <p role="status">
        {test.succeeded ? 'It arrived' : 'It did not arrive'}
        {test.response && `: status ${test.response.status}`}
        {test.error && (
          <>
            : <Text text={wordsOf(test.error)} />
          </>
        )}
        , after {duration(test.duration_ms)}.
      </p>
      {test.timings && <TimingBar timings={test.timings} />}
      <Exchange
        request={test.request}
        requestBody={test.request?.body ?? ''}
        response={test.response}
        error={test.error}
      />
    </div>
  </Section>
)

const TestForm = (form: Look & { action: string }) => (
  <Section id="test" title="Send a test event" isCard>
    <Form action={form.action} errors={form.errors} buttons={<Button>Send test event</Button>}>
      <Field
        name="event_type"
        label="Event type"
        isMono
        isRequired={false}
        value={textIn(form.typed, 'event_type')}
        error={form.errors?.find(({ name }) => name === 'event_type')?.message}
        placeholder="webhook.test"
        help="With the last payload that was seen of that type. It is sent at once, signed like any other, and only here."
      />
    </Form>
  </Section>
)

function* controlsOf({ endpoint, mayDelete }: Look, own: string) {
  yield endpoint.active ? pauseOf(own) : resumeOf(own)
  yield {
    title: 'Replace its secret',
    text: 'Calls are signed with a new one; the one before may sign beside it for a while.',
    control: (
      <Confirm
        id="rotate"
        verb="Replace secret"
        question="Replace the signing secret?"
        consequence="The new one is shown once. Give it to the receiver before the old one ends."
        action={`${own}/rotate`}
        isHarmless
      >
        <Select
          name="grace"
          label="The old one signs on for"
          value="day"
          options={[
            { value: 'day', label: 'a day' },
            { value: 'week', label: 'a week' },
            { value: 'hour', label: 'an hour' },
            { value: 'none', label: 'no time at all' },
          ]}
        />
      </Confirm>
    ),
  }
  if (!mayDelete) return
  yield {
    title: 'Delete it',
    text: 'What was still to come for it is cancelled. This cannot be taken back.',
    control: (
      <Confirm
        id="delete"
        verb="Delete endpoint"
        question="Delete this endpoint?"
        consequence="It gets nothing any more, and what is held for it is cancelled."
        action={`${own}/delete`}
      />
    ),
  }
}

const pauseOf = (own: string) => ({
  title: 'Pause it',
  text: 'What comes for it is held until it is resumed.',
  control: (
    <Confirm
      id="pause"
      verb="Pause endpoint"
      question="Pause this endpoint?"
      consequence="Nothing is sent there; what comes for it is held."
      action={`${own}/pause`}
      isHarmless
    />
  ),
})

const resumeOf = (own: string) => ({
  title: 'Resume it',
  text: 'Events are sent there again.',
  control: (
    <Confirm
      id="resume"
      verb="Resume endpoint"
      question="Resume this endpoint?"
      consequence="What comes from now on is sent at once."
      action={`${own}/resume`}
      isHarmless
    >
      <Select
        name="held"
        label="What was held meanwhile"
        value="drain"
        options={[
          { value: 'drain', label: 'is sent now' },
          { value: 'discard', label: 'is thrown away' },
        ]}
      />
    </Confirm>
  ),
})
