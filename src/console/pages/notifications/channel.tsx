import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import type { Channel } from '../../../engines/notifications/index.ts'
import { isoOrNull } from '../../../platform/clock.ts'
import { good, type Outcome, page, shown, usePage, warn } from '../../page.tsx'
import { gracePeriodIn } from '../grace-period.tsx'
import { RotatedSecret, rotation } from '../webhooks/endpoint-controls.tsx'
import { CHANNEL_FORM, ChannelForm, channelIn } from './channel-form.tsx'
import { stateOf } from './channel-table.tsx'
import { type Context, OF_INSTALLATION, OF_TENANT, TYPE_WORDS } from './words.ts'

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
