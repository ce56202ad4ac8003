import { Confirm, DangerZone } from '../../../../views/ui/confirm.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import type { Channel, ChannelType } from '../../../engines/notifications/index.ts'
import { isoOrNull } from '../../../platform/clock.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import {
  good,
  type OperatorPageContext,
  type Outcome,
  page,
  shown,
  usePage,
  warn,
} from '../../page.tsx'
import { GracePeriod, gracePeriodIn } from '../grace-period.tsx'
import { CreatedSecret, RotatedSecret } from '../webhooks/endpoint-controls.tsx'
import { SettingsTabs } from '../workspace/settings-tabs.tsx'
import { CHANNEL_FORM, ChannelForm, channelIn, TypeChoice, typeIn } from './channel-form.tsx'
import { ChannelTable, stateOf } from './channel-table.tsx'
import { TYPE_WORDS } from './words.ts'

const OF_TENANT = '/settings/notifications'
const OF_INSTALLATION = '/notifications'

type Context = OperatorPageContext<string> & { params: Record<string, string> }

interface Channels {
  channels: readonly Channel[]
  builtIn: string | undefined
}

const channelsOf = ({ notifications }: Context, tenantId: string | null): Channels => ({
  channels: notifications.channels.list(tenantId),
  builtIn: notifications.tellsOwners(tenantId)
    ? `${tenantId === null ? 'Admins' : 'Owners'} with a verified address get emails`
    : undefined,
})

function List({
  channels,
  builtIn,
  path,
  mayChange,
}: Channels & { path: string; mayChange: boolean }) {
  const { href } = usePage()
  return (
    <Section
      id="channels"
      title="Channels"
      note="Each gets at most one message an hour about the same problem."
    >
      <ChannelTable
        channels={channels}
        builtIn={builtIn}
        hrefOf={(id) => href(`${path}/${id}`)}
        newHref={mayChange ? href(`${path}/new`) : undefined}
      />
    </Section>
  )
}

const NewButton = ({ path }: { path: string }) => (
  <LinkButton weight="primary" href={usePage().href(`${path}/new`)}>
    New channel
  </LinkButton>
)

/** Where the alerts of a tenant are sent. */
export const channelList = page({
  path: OF_TENANT,
  section: 'settings',
  right: 'read',
  title: 'Notifications',
  load: (context) => channelsOf(context, context.tenantId),
  view(view) {
    const { may, href } = usePage()
    return (
      <>
        <PageHead
          title="Notifications"
          state={{
            sentence: (
              <>
                Where alerts are sent. See the <a href={href('/alerts')}>alerts</a>.
              </>
            ),
          }}
          action={may('settings') && <NewButton path={OF_TENANT} />}
        />
        <SettingsTabs current="notifications" />
        <List {...view} path={OF_TENANT} mayChange={may('settings')} />
      </>
    )
  },
})

/** Where the alerts of the installation are sent. */
export const installationChannels = page({
  path: OF_INSTALLATION,
  section: 'notifications',
  right: 'admin',
  title: 'Notifications',
  load: (context) => channelsOf(context, null),
  view: (view) => (
    <>
      <PageHead
        title="Notifications"
        state={{
          sentence: (
            <>
              Where alerts of the installation are sent. See the{' '}
              <a href={usePage().href('/alerts')}>alerts</a>.
            </>
          ),
        }}
        action={<NewButton path={OF_INSTALLATION} />}
      />
      <List {...view} path={OF_INSTALLATION} mayChange />
    </>
  ),
})

/** Types to choose from for a new channel. */
const Choice = ({ path }: { path: string }) => {
  const { href } = usePage()
  return (
    <TypeChoice isOfTenant={path === OF_TENANT} hrefOf={(type) => href(`${path}/new/${type}`)} />
  )
}

export const channelChoice = page({
  path: '/settings/notifications/new',
  section: 'settings',
  right: 'settings',
  title: 'New channel',
  load: () => ({}),
  view: () => <Choice path={OF_TENANT} />,
})

export const installationChannelChoice = page({
  path: '/notifications/new',
  section: 'notifications',
  right: 'admin',
  title: 'New channel',
  load: () => ({}),
  view: () => <Choice path={OF_INSTALLATION} />,
})

const knownType = (text: string): ChannelType => typeIn(text) ?? fail(notFound('page not found'))

const titleOf = (type: ChannelType): string => `New channel: ${TYPE_WORDS[type].label}`

const New = ({ type, path }: { type: ChannelType; path: string }) => (
  <>
    <PageHead title={titleOf(type)} state={{ sentence: TYPE_WORDS[type].text }} />
    <ChannelForm type={type} isOfTenant={path === OF_TENANT} action="" cancel={path} />
  </>
)

async function create(context: Context, tenantId: string | null, path: string): Promise<Outcome> {
  const { notifications, actor, fields, href, params } = context
  const wanted = channelIn(fields, knownType(params.type ?? ''))
  const { channel, secret } = await notifications.channels.create(tenantId, actor, wanted)
  const to = `${path}/${channel.id}`
  if (secret === undefined) return { to }
  return shown(
    'Channel created',
    <CreatedSecret
      title="Channel created"
      sentence="Alerts are sent to it from now on."
      secret={secret}
      doneHref={href(to)}
    />,
  )
}

const CREATED = good('Channel created. Send a test notification to try it.')

export const newChannel = page({
  path: '/settings/notifications/new/:type',
  section: 'settings',
  right: 'settings',
  load: ({ params }) => ({ type: knownType(params.type) }),
  title: ({ type }) => titleOf(type),
  view: ({ type }) => <New type={type} path={OF_TENANT} />,
  actions: {
    '': {
      right: 'settings',
      form: CHANNEL_FORM,
      flash: CREATED,
      run: (context) => create(context, context.tenantId, OF_TENANT),
    },
  },
})

export const newInstallationChannel = page({
  path: '/notifications/new/:type',
  section: 'notifications',
  right: 'admin',
  load: ({ params }) => ({ type: knownType(params.type) }),
  title: ({ type }) => titleOf(type),
  view: ({ type }) => <New type={type} path={OF_INSTALLATION} />,
  actions: {
    '': {
      right: 'admin',
      form: CHANNEL_FORM,
      flash: CREATED,
      run: (context) => create(context, null, OF_INSTALLATION),
    },
  },
})

function Detail({ channel, path }: { channel: Channel; path: string }) {
  const { actionHref } = usePage()
  const { tone } = stateOf(channel)
  return (
    <>
      <PageHead
        title={<Text text={channel.name} limit={64} />}
        state={{
          tone,
          sentence: (
            <>
              {TYPE_WORDS[channel.type].label}: <Text text={channel.hint} limit={80} />
              {channel.lastError !== null && (
                <>
                  {' '}
                  · Failed: <Text text={channel.lastError} limit={120} />
                </>
              )}
            </>
          ),
        }}
        action={
          <ActionButton weight="primary" action={actionHref('test')}>
            Send test notification
          </ActionButton>
        }
      />
      <Section id="settings" title="Settings">
        <ChannelForm
          type={channel.type}
          isOfTenant={path === OF_TENANT}
          channel={channel}
          action=""
          cancel={path}
        />
      </Section>
      <DangerZone items={channel.type === 'webhook' ? [rotation(), deletion()] : [deletion()]} />
    </>
  )
}

const rotation = () => ({
  title: 'Rotate secret',
  text: 'Creates a new signing secret. Both secrets sign until the old one expires.',
  control: (
    <Confirm
      id="rotate"
      verb="Rotate secret"
      question="Rotate the signing secret?"
      consequence="The new secret is shown once. Update your receiver before the old secret expires."
      action={usePage().actionHref('rotate')}
      isHarmless
    >
      <GracePeriod label="Old secret expires" />
    </Confirm>
  ),
})

const deletion = () => ({
  text: "Nothing more is sent to it. This can't be undone.",
  id: 'delete',
  verb: 'Delete channel',
  question: 'Delete this channel?',
  consequence: 'Nothing more is sent to it, not even what is queued.',
  action: usePage().actionHref('delete'),
})

/** The result of a test, as a message above the form. */
async function test(context: Context, tenantId: string | null): Promise<Outcome> {
  const { notifications, params } = context
  const { result, error } = await notifications.test(tenantId, params.id ?? '')
  const report =
    result === 'failed'
      ? warn(`Not sent: ${error}.`)
      : good(result === 'sent' ? 'Test notification sent.' : 'Test email queued in the outbox.')
  return { again: true, report, values: {} }
}

async function save(context: Context, tenantId: string | null): Promise<void> {
  const { notifications, actor, fields, params } = context
  const { id = '' } = params
  const { channels } = notifications
  const before = channels.get(tenantId, id)
  const { type: _, ...change } = channelIn(fields, before.type, before)
  await channels.update(tenantId, actor, id, change)
}

async function rotate(context: Context, tenantId: string | null, path: string): Promise<Outcome> {
  const { notifications, actor, fields, params, href } = context
  const { id = '' } = params
  const graceMs = gracePeriodIn(fields)
  const rotated = await notifications.channels.rotateSecret(tenantId, actor, id, { graceMs })
  const { secret, previousExpiresAt } = rotated
  const doneHref = href(`${path}/${id}`)
  const until = isoOrNull(previousExpiresAt)
  return shown(
    'Secret rotated',
    <RotatedSecret secret={secret} until={until} doneHref={doneHref} />,
  )
}

async function remove(context: Context, tenantId: string | null, path: string): Promise<Outcome> {
  const { notifications, actor, params } = context
  await notifications.channels.remove(tenantId, actor, params.id ?? '')
  return { to: path }
}

const SAVED = good('Channel saved.')
const DELETED = good('Channel deleted.')
const title = ({ channel }: { channel: Channel }) => channel.name

export const channelPage = page({
  path: '/settings/notifications/:id',
  section: 'settings',
  right: 'settings',
  title,
  load: ({ notifications, tenantId, params }) => ({
    channel: notifications.channels.get(tenantId, params.id),
  }),
  view: ({ channel }) => <Detail channel={channel} path={OF_TENANT} />,
  actions: {
    '': {
      right: 'settings',
      form: CHANNEL_FORM,
      flash: SAVED,
      run: (context) => save(context, context.tenantId),
    },
    test: { right: 'settings', run: (context) => test(context, context.tenantId) },
    rotate: { right: 'settings', run: (context) => rotate(context, context.tenantId, OF_TENANT) },
    delete: {
      right: 'settings',
      flash: DELETED,
      run: (context) => remove(context, context.tenantId, OF_TENANT),
    },
  },
})

export const installationChannel = page({
  path: '/notifications/:id',
  section: 'notifications',
  right: 'admin',
  title,
  load: ({ notifications, params }) => ({ channel: notifications.channels.get(null, params.id) }),
  view: ({ channel }) => <Detail channel={channel} path={OF_INSTALLATION} />,
  actions: {
    '': { right: 'admin', form: CHANNEL_FORM, flash: SAVED, run: (context) => save(context, null) },
    test: { right: 'admin', run: (context) => test(context, null) },
    rotate: { right: 'admin', run: (context) => rotate(context, null, OF_INSTALLATION) },
    delete: {
      right: 'admin',
      flash: DELETED,
      run: (context) => remove(context, null, OF_INSTALLATION),
    },
  },
})
