import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import type { Channel, ChannelType } from '../../../engines/notifications/index.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import { good, type Outcome, page, shown, usePage } from '../../page.tsx'
import { CreatedSecret } from '../webhooks/endpoint-controls.tsx'
import { SettingsTabs } from '../workspace/settings-tabs.tsx'
import { CHANNEL_FORM, ChannelForm, channelIn, TypeChoice, typeIn } from './channel-form.tsx'
import { ChannelTable } from './channel-table.tsx'
import { type Context, OF_INSTALLATION, OF_TENANT, TYPE_WORDS } from './words.ts'

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
