import { Elysia, t } from 'elysia'
import type { Access } from '../../http/access.ts'
import { Rotated, Rotation, USUAL_GRACE_S } from '../../http/delivery-log/model.ts'
import { PageOf, pageQuery } from '../../http/paging.ts'
import { CodedErrors, Empty, refusalsIn } from '../../http/responses.ts'
import { oneOf } from '../../http/schemas.ts'
import type { Caller } from '../../platform/caller.ts'
import { isoOrNull } from '../../platform/clock.ts'
import type { Metering } from '../../platform/metering/index.ts'
import type { Channels } from './channels/channels.ts'
import type { TestResult as Tested } from './channels/test-notice.ts'
import type { createLists } from './lists.ts'
import {
  Alert,
  Channel,
  ChannelChange,
  CreatedChannel,
  LogEntry,
  MuteRequest,
  NewChannel,
  TestResult,
} from './model.ts'
import type { createMuting } from './muting.ts'
import { fieldsOf, presentChannel } from './present.ts'

const { 404: Unknown, 409: Conflict } = CodedErrors
const { badBody, refused, spent } = refusalsIn(CodedErrors)
const reads = ['notifications:read', 'notifications:write'] as const
const writes = 'notifications:write'

interface Parts {
  metering: Metering
  channels: Channels
  lists: ReturnType<typeof createLists>
  muting: ReturnType<typeof createMuting>
  test: (tenantId: string, id: string) => Promise<Tested>
  access: Access
}

/** Channels, alerts and the log of notices of a tenant, the same for live and test keys. */
export const createRoutes = (parts: Parts) =>
  new Elysia({ prefix: '/v1/notifications', tags: ['notifications'] })
    .use(channelRoutes(parts))
    .use(alertRoutes(parts))

function channelRoutes({ channels, lists, metering, test, access }: Parts) {
  async function create(caller: Caller, { type, ...input }: NewChannel): Promise<CreatedChannel> {
    metering.reserve(caller)
    const { tenantId, actor } = caller
    const { channel, secret = null } = await channels.create(tenantId, actor, {
      type,
      ...fieldsOf(input),
    })
    return { ...presentChannel(channel), secret }
  }

  async function tested(caller: Caller, id: string): Promise<Tested> {
    metering.reserve(caller)
    return await test(caller.tenantId, id)
  }

  async function rotated(caller: Caller, id: string, input: Rotation | null): Promise<Rotated> {
    const graceMs = (input?.grace_seconds ?? USUAL_GRACE_S) * 1000
    const { tenantId, actor } = caller
    const { secret, previousExpiresAt } = await channels.rotateSecret(tenantId, actor, id, {
      secret: input?.secret,
      graceMs,
    })
    return { secret, previous_expires_at: isoOrNull(previousExpiresAt) }
  }

  return new Elysia({ prefix: '/channels' })
    .use(access)
    .get('', ({ caller, query }) => lists.channels(caller.tenantId, query), {
      scope: reads,
      detail: { summary: 'List channels', description: 'Oldest first.' },
      query: pageQuery({}),
      response: { 200: PageOf(Channel), ...refused },
    })
    .post('', async ({ caller, body, status }) => status(201, await create(caller, body)), {
      scope: writes,
      detail: {
        summary: 'Create a channel',
        description:
          'As soon as there is one, owners are no longer notified by email automatically.',
      },
      body: NewChannel,
      response: { 201: CreatedChannel, ...badBody, ...refused, ...spent, 409: Conflict },
    })
    .get(
      '/:channel_id',
      ({ caller, params }) => presentChannel(channels.get(caller.tenantId, params.channel_id)),
      {
        scope: reads,
        detail: { summary: 'Get a channel' },
        response: { 200: Channel, ...refused, 404: Unknown },
      },
    )
    .patch(
      '/:channel_id',
      async ({ caller, params, body }) =>
        presentChannel(
          await channels.update(caller.tenantId, caller.actor, params.channel_id, fieldsOf(body)),
        ),
      {
        scope: writes,
        detail: {
          summary: 'Update a channel',
          description: 'Changes only the given fields. Replaces `settings` as a whole.',
        },
        body: ChannelChange,
        response: { 200: Channel, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .delete(
      '/:channel_id',
      ({ caller, params, status }) =>
        channels
          .remove(caller.tenantId, caller.actor, params.channel_id)
          .then(() => status(204, undefined)),
      {
        scope: writes,
        detail: { summary: 'Delete a channel' },
        response: { 204: Empty, ...refused, 404: Unknown },
      },
    )
    .post('/:channel_id/test', ({ caller, params }) => tested(caller, params.channel_id), {
      scope: writes,
      detail: {
        summary: 'Send a test notification',
        description: 'Waits for the response, for up to 10 seconds.',
      },
      response: { 200: TestResult, ...refused, ...spent, 404: Unknown, 409: Conflict },
    })
    .post(
      '/:channel_id/rotate-secret',
      ({ caller, params, body }) => rotated(caller, params.channel_id, body),
      {
        scope: writes,
        detail: {
          summary: 'Rotate the secret of a webhook',
          description: 'The previous secret also signs during the grace period.',
        },
        body: t.Nullable(Rotation),
        response: { 200: Rotated, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
}

function alertRoutes({ lists, muting, access }: Parts) {
  return new Elysia()
    .use(access)
    .get('/alerts', ({ caller, query }) => lists.alerts(caller.tenantId, query), {
      scope: reads,
      detail: {
        summary: 'List alerts',
        description: 'Open ones first, then the last opened first. Resolved ones are kept 90 days.',
      },
      query: pageQuery({ state: t.Optional(oneOf(['open', 'resolved'])) }),
      response: { 200: PageOf(Alert), ...refused },
    })
    .post(
      '/alerts/:alert_id/mute',
      async ({ caller, params, body }) =>
        lists.presentedAlert(
          await muting.mute(caller.tenantId, caller.actor, params.alert_id, body?.for),
        ),
      {
        scope: writes,
        detail: {
          summary: 'Mute an alert',
          description: 'Without a duration, until you unmute it.',
        },
        body: t.Nullable(MuteRequest),
        response: { 200: Alert, ...badBody, ...refused, 404: Unknown },
      },
    )
    .post(
      '/alerts/:alert_id/unmute',
      async ({ caller, params }) =>
        lists.presentedAlert(await muting.unmute(caller.tenantId, caller.actor, params.alert_id)),
      {
        scope: writes,
        detail: { summary: 'Unmute an alert' },
        response: { 200: Alert, ...refused, 404: Unknown },
      },
    )
    .get('/log', ({ caller, query }) => lists.log(caller.tenantId, query), {
      scope: reads,
      detail: {
        summary: 'List notifications',
        description: 'What was sent to which channel, newest first. Kept 90 days.',
      },
      query: pageQuery({}),
      response: { 200: PageOf(LogEntry), ...refused },
    })
}
