import type { CurlRequest } from '../../../../views/ui/code.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import type { MessageSummary } from '../../../engines/relay/messages.ts'
import type { NewMessage } from '../../../engines/relay/model/messages.ts'
import { type Fields, parseJson } from '../../../http/body.ts'
import { isoTime } from '../../../platform/clock.ts'
import type { Page } from '../../../platform/cursor.ts'
import { invalid } from '../../../platform/errors.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { trimmedText } from '../../form.ts'
import { ListFilters, useList } from '../../list.tsx'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import { channelsIn } from './fields.ts'
import { OutcomeMarks } from './outcome-marks.tsx'

const ON_A_PAGE = 50
const SORTS = { received: 'desc' } as const

interface MessageList {
  found: Page<MessageSummary>
  /** URLs of endpoints by ID. */
  endpoints: ReadonlyMap<string, string>
  eventType: string | undefined
  time: TimeFilter
}

/** Messages with their outcome at each endpoint. */
export const messageList = page({
  path: '/messages',
  section: 'messages',
  hasEnvironments: true,
  right: 'read',
  title: 'Messages',

  load(context): MessageList {
    const { delivery, environment, tenantId, query, position } = context
    const addresses = delivery.queries.addresses({ tenantId, name: `relay.${environment}` })
    return {
      found: found(context, { cursor: position.cursor, limit: ON_A_PAGE }),
      endpoints: new Map(addresses.map(({ id, url }) => [id, url])),
      eventType: query.event_type || undefined,
      time: timeFilterIn(context),
    }
  },

  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  view(list) {
    const { found, eventType, time } = list
    const { data, next_cursor: next } = found
    const { href, may, baseUrl } = usePage()
    const { isFiltered, allHref, pagesTo, sortedBy } = useList()
    const hasAny = data.length > 0 || isFiltered
    const send = may('change') && (
      <LinkButton weight="primary" href={href('/messages/new', { event_type: eventType })}>
        Send message
      </LinkButton>
    )
    return (
      <>
        <PageHead
          title="Messages"
          state={{ sentence: sentenceOn(list) }}
          action={hasAny && send}
          aside={hasAny && <ExportMenu />}
        />
        {hasAny && (
          <ListFilters search={{ label: 'Search by event type', name: 'event_type' }} time={time} />
        )}
        <DataTable
          caption="Messages"
          rows={data}
          hrefOf={({ id }) => href(`/messages/${id}`)}
          idOf={({ id }) => id}
          columns={columnsOf(list)}
          sorting={sortedBy(SORTS)}
          empty={
            isFiltered ? (
              <EmptyState
                icon="messages"
                sentence="No matching messages"
                next={eventType && 'Enter the full event type, such as order.paid.'}
                action={<LinkButton href={allHref}>View all messages</LinkButton>}
              />
            ) : (
              <EmptyState
                icon="messages"
                sentence="No messages yet"
                next="Your apps send messages with an API key for Webhooks (relay). You can also send one here."
                action={send}
                curl={firstMessage(baseUrl())}
              />
            )
          }
          pages={pagesTo(next)}
        />
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'messages',
      columns: {
        id: ({ id }) => id,
        event_type: ({ type }) => type,
        received_at: ({ acceptedAt }) => isoTime(acceptedAt),
        payload_start: ({ preview }) => preview,
        deliveries: ({ outcomes }) => outcomes.length,
        failed: ({ outcomes }) => outcomes.filter(({ status }) => status === 'failed').length,
      },
      slices: (context: PageContext) => pagesOf((of) => found(context, of)),
    }),
  },
})

/** Messages that match the filter of the query string, in its order. */
function found(context: PageContext, of: { cursor: string | undefined; limit: number }) {
  const { relay, caller, environment, query } = context
  const { since, until } = timeFilterIn(context)
  return relay.messages.summaries(caller('relay', environment), {
    ...{ ...of, since, until },
    eventType: query.event_type || undefined,
    isAscending: isAscendingIn(context),
  })
}

const isAscendingIn = ({ query }: Pick<PageContext, 'query'>): boolean =>
  !sortingIn(query.sort, SORTS).isDescending

const columnsOf = ({ endpoints }: MessageList): Column<MessageSummary>[] => [
  {
    label: 'Message',
    isWide: true,
    cell: ({ type, preview }) => (
      <>
        <Text text={type} />
        <span class="hint preview">
          <Text text={preview} limit={PREVIEW_SHOWN} />
        </span>
      </>
    ),
  },
  {
    label: 'Endpoints',
    cell: ({ outcomes }) => <OutcomeMarks outcomes={outcomes} endpoints={endpoints} />,
  },
  { label: 'ID', narrow: 'hidden', cell: ({ id }) => <Id id={id} what="message ID" /> },
  {
    label: 'Received',
    align: 'right',
    narrow: 'corner',
    sort: 'received',
    cell: ({ acceptedAt }) => <Time at={acceptedAt} />,
  },
]

const PREVIEW_SHOWN = 120

function sentenceOn({ found, eventType, time }: MessageList) {
  const { isFirst } = useList()
  const [latest] = found.data
  const of = eventType === undefined ? '' : ' of this type'
  if (!latest) return eventType || time.isSet ? 'No matching messages' : 'No messages yet'
  if (time.isSet) return 'Messages of this time range'
  if (isAscendingIn(usePage())) return `All messages${of}, oldest first`
  if (!isFirst) return `Older messages${of}`
  return (
    <>
      Last message{of} received <Time at={latest.acceptedAt} />
    </>
  )
}

/** The form that sends a message. */
export const newMessage = page({
  path: '/messages/new',
  section: 'messages',
  hasEnvironments: true,
  right: 'change',
  title: 'New message',

  load: ({ query }) => ({ eventType: query.event_type }),

  view({ eventType }) {
    const { environment } = usePage()
    return (
      <>
        <PageHead
          title="New message"
          state={
            environment === 'test'
              ? { sentence: 'Test environment: the message is stored, but not delivered.' }
              : {
                  tone: 'warn',
                  sentence:
                    'Live environment: the message is delivered to every subscribed endpoint.',
                }
          }
        />
        <PageForm
          action=""
          buttons={<Button weight="primary">Send message</Button>}
          cancel="/messages"
        >
          <Field
            name="event_type"
            label="Event type"
            isMono
            placeholder="order.paid"
            value={eventType}
          />
          <Textarea
            name="payload"
            label="Payload"
            isMono
            rows={10}
            value={'{\n  "order": 42\n}'}
            help="A JSON object, delivered exactly as typed."
          />
          <Field
            name="channels"
            label="Channels"
            isMono
            isRequired={false}
            help="Delivers only to endpoints that listen on one of these channels. If empty, to every endpoint subscribed to the event type."
          />
        </PageForm>
      </>
    )
  },

  actions: {
    '': {
      right: 'change',
      form: { event_type: 'event_type', payload: 'payload', body: 'payload', channels: 'channels' },
      flash: good('Message sent.'),
      async run({ relay, db, audit, tenantId, actor, caller, environment, fields }) {
        const { input, payloadText } = messageIn(fields)
        const { message } = await relay.messages.send(
          caller('relay', environment),
          input,
          payloadText,
        )
        const object = `message:${message.id}`
        await db.commitFor(tenantId, () =>
          audit.record({ tenantId, actor, action: 'message.sent', object }),
        )
        return { to: `/messages/${message.id}` }
      },
    },
  },
})

/** Checks a payload without reformatting it, which could change its numbers. */
function messageIn(fields: Fields): { input: NewMessage; payloadText: string } {
  const payloadText = trimmedText(fields, 'payload')
  const payload = parseJson(payloadText)
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw invalid('must be a JSON object, such as {"order": 42}', {
      field: 'payload',
      rule: 'type',
    })
  const input = {
    event_type: trimmedText(fields, 'event_type'),
    payload,
    channels: channelsIn(fields),
  }
  return { input, payloadText }
}

const KEY = '$RELAY_KEY'

const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' }

/** Request that sends a message. */
export const firstMessage = (apiUrl: string): CurlRequest => ({
  url: `${apiUrl}/v1/relay/messages`,
  headers,
  body: { event_type: 'order.paid', payload: { order: 42 } },
})

/** Request that creates an endpoint. */
export const firstEndpoint = (apiUrl: string): CurlRequest => ({
  url: `${apiUrl}/v1/relay/endpoints`,
  headers,
  body: { url: 'https://example.com/hook', event_types: ['order.*'] },
})
