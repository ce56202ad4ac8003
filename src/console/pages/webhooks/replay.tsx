import { AutoRefresh } from '../../../../views/layout/live.tsx'
import { Meter } from '../../../../views/ui/charts/meter.tsx'
import { Confirm } from '../../../../views/ui/confirm.tsx'
import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Select } from '../../../../views/ui/form/choices.tsx'
import { errorAt, Field, rawText } from '../../../../views/ui/form/field.tsx'
import { FieldRow, Form } from '../../../../views/ui/form/form.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { counted, numeral, withoutScheme } from '../../../../views/ui/words.ts'
import type { ReplayRest } from '../../../delivery/queries.ts'
import { REPLAY_COUNTED } from '../../../engines/relay/queries.ts'
import type { Fields } from '../../../http/body.ts'
import { isoTime } from '../../../platform/clock.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { submitted } from '../../form.ts'
import { page, usePage } from '../../page.tsx'
import { replayIn } from './fields.ts'

const FIELDS = ['since', 'until', 'which', 'per_second']
const FORM = { since: 'since', until: 'until', which: 'which', per_second: 'per_second' }

/** Replays past messages to an endpoint: counts them first, then sends them. */
export const replayPage = page({
  path: '/endpoints/:id/replay',
  section: 'endpoints',
  hasEnvironments: true,
  right: 'change',
  title: 'Replay messages',

  async load({ relay: { endpoints }, environment, params, query, now, ...context }) {
    const caller = context.caller('relay', environment)
    const endpoint = endpoints.get(caller, params.id)
    // By default since the endpoint started to fail, or the last day.
    const since = endpoint.health.failing_since ?? isoTime(now - DAY_MS)
    if (query.since === undefined)
      return { endpoint, values: { since, which: 'undelivered' } as Fields }
    const { value, errors } = await submitted(
      async () => endpoints.replay(caller, params.id, { ...replayIn(query), dry_run: true }),
      FORM,
    )
    return { endpoint, values: query as Fields, errors, count: value?.count }
  },

  above: ({ endpoint }, { href }) => [
    { label: withoutScheme(endpoint.url), href: href(`/endpoints/${endpoint.id}`) },
  ],
  status: ({ errors }) => (errors ? 422 : 200),

  view({ endpoint, count, ...view }) {
    const { submission, actionHref } = usePage()
    const { values, errors } = submission ?? view
    const of = (name: string) => ({
      name,
      value: rawText(values, name),
      error: errorAt(errors, name),
    })
    return (
      <>
        <PageHead
          title="Replay messages"
          state={{
            sentence: (
              <>
                Sends past messages to <Text text={withoutScheme(endpoint.url)} limit={80} /> again.
                Count them first.
              </>
            ),
          }}
        />
        {count !== undefined && (
          <Section id="count" title={`${counted(count, 'message')} to send`} isCard>
            {count === 0 ? (
              <p>No messages to replay in this period. Queued deliveries are sent automatically.</p>
            ) : (
              <Confirm
                id="replay"
                verb={`Replay ${counted(count, 'message')}`}
                question={`Send ${counted(count, 'message')} again?`}
                consequence="Each message keeps its ID. Messages are sent at the rate below."
                action={actionHref('')}
                fields={Object.fromEntries(
                  FIELDS.map((name) => [name, rawText(values, name) ?? '']),
                )}
                isHarmless
              />
            )}
          </Section>
        )}
        <Section id="which" title="Messages to replay">
          <Form
            action={actionHref('')}
            method="get"
            errors={errors ?? []}
            buttons={<Button weight={count ? 'plain' : 'primary'}>Count messages</Button>}
            cancel={`/endpoints/${endpoint.id}`}
          >
            <FieldRow>
              <Field {...of('since')} label="Since" isMono help="With a time zone; Z is UTC." />
              <Field
                {...of('until')}
                label="Until"
                isMono
                isRequired={false}
                help="If empty, now."
              />
            </FieldRow>
            <Select
              {...of('which')}
              label="Messages"
              options={[
                { value: 'undelivered', label: 'Undelivered only' },
                { value: 'all', label: 'All, including delivered' },
              ]}
            />
            <Field
              {...of('per_second')}
              value={rawText(values, 'per_second') || '10'}
              label="Rate"
              type="number"
              min={1}
              max={1000}
              suffix="per second"
            />
          </Form>
        </Section>
      </>
    )
  },

  actions: {
    '': {
      right: 'change',
      form: FORM,
      async run({ relay, caller, environment, params, fields }) {
        const by = caller('relay', environment)
        const { count } = await relay.endpoints.replay(by, params.id, replayIn(fields))
        return { to: `/endpoints/${params.id}`, query: { replayed: count } }
      },
    },
  },
})

/** Progress of a replay, by first attempts: retries are not part of it. Without scripts, a link refreshes. */
export const ReplayProgress = (progress: {
  count: number
  rest: ReplayRest
  /** Address of this page. */
  here: string
  logHref: string
}) => {
  const { count, here, rest } = progress
  const left = Math.min(rest.left, count)
  const isCapped = rest.seen >= REPLAY_COUNTED
  return (
    <div id="replay-progress" class="replayprogress">
      <Section
        id="replay"
        title="Replay"
        isCard
        aside={
          left > 0 ? (
            <LinkButton isSmall href={here}>
              Refresh
            </LinkButton>
          ) : (
            <LinkButton isSmall href={progress.logHref}>
              View deliveries
            </LinkButton>
          )
        }
      >
        {left > 0 && <AutoRefresh id="replay-progress" here={here} />}
        {left > 0 && isCapped ? (
          <p role="status">
            More than {numeral(left)} of {counted(count, 'message')} remaining
          </p>
        ) : (
          <Meter
            label={left === 0 ? 'All sent' : 'Sent'}
            value={count - left}
            max={count}
            amount={`${numeral(count - left)} of ${numeral(count)}`}
            tone={left === 0 ? 'good' : 'busy'}
          />
        )}
      </Section>
    </div>
  )
}
