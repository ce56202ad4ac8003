import {
  CHANNEL_TYPES,
  type ChannelType,
  presentChannel,
  settingsOf,
} from '../engines/notifications/index.ts'
import { ALERT_KINDS, SEVERITIES } from '../platform/alerts/index.ts'
import { invalid } from '../platform/errors.ts'
import {
  type Command,
  EXIT,
  type Invocation,
  type Io,
  oneOf,
  table,
  UsageError,
} from './command.ts'
import { OWNER, withNotifications } from './notifications.ts'

export const channelAdd: Command = {
  name: 'channel add',
  summary: 'Add a channel that is notified of alerts.',
  options: {
    ...OWNER,
    type: {
      type: 'string',
      value: 'TYPE',
      help: `One of ${CHANNEL_TYPES.join(', ')}.`,
      required: true,
    },
    name: { type: 'string', value: 'NAME', help: 'Display name. Default: that of the type.' },
    setting: {
      type: 'string',
      value: 'NAME=VALUE',
      multiple: true,
      help: "A setting that isn't secret, such as topic=alerts.",
    },
    'settings-stdin': {
      type: 'boolean',
      help: 'Read settings from standard input, as a JSON object: {"url": "https://…"}. Secrets are read only from there.',
    },
    kind: {
      type: 'string',
      value: 'KIND',
      multiple: true,
      help: 'Only this kind of alert, such as job.failed. Default: all.',
    },
    'min-severity': {
      type: 'string',
      value: 'SEVERITY',
      help: 'warning (the default) or critical.',
    },
  },
  run: async ({ config, io, options }) => {
    const type = oneOf(CHANNEL_TYPES, 'type', options.type)
    const input = {
      type,
      ...(options.name !== undefined && { name: `${options.name}` }),
      settings: { ...settingsIn(type, options), ...(await settingsFrom(io, options)) },
      kinds: kindsIn(options),
      minSeverity: oneOf(SEVERITIES, 'min-severity', options['min-severity'] ?? 'warning'),
    }
    return withNotifications({ config, io, options }, async ({ channels }, owner, actor) => {
      const { channel, secret } = await channels.create(owner, actor, input)
      const shown = secret === undefined ? '' : `\nSigning secret, shown only now: ${secret}`
      return {
        json: { ...presentChannel(channel), secret: secret ?? null },
        text: `Added channel ${channel.name} (${channel.hint}).${shown}\n${channel.id}`,
      }
    })
  },
}

export const channelList: Command = {
  name: 'channel list',
  summary: 'List channels, without their secrets.',
  options: OWNER,
  run: ({ config, io, options }) =>
    withNotifications({ config, io, options }, ({ channels }, owner) => {
      const list = channels.list(owner).map(presentChannel)
      const head = ['ID', 'TYPE', 'NAME', 'TARGET', 'STATE', 'LAST ERROR']
      const rows = list.map(({ id, type, name, hint, active, last_error: error }) => [
        ...[id, type, name, hint],
        active ? 'active' : 'inactive',
        error ?? '-',
      ])
      const text = list.length === 0 ? 'No channels yet.' : table([head, ...rows])
      return { json: { channels: list }, text }
    }),
}

export const channelTest: Command = {
  name: 'channel test',
  summary: 'Send a test notification to a channel.',
  positionals: ['ID'],
  options: OWNER,
  run: ({ config, io, options, args }) =>
    withNotifications({ config, io, options }, async ({ test }, owner) => {
      const tested = await test(owner, args[0] ?? '')
      if (tested.error === null) return { json: tested, text: DONE[tested.result] }
      return { json: tested, text: `Failed: ${tested.error}.`, exit: EXIT.failure }
    }),
}

export const channelRemove: Command = {
  name: 'channel remove',
  summary: 'Delete a channel.',
  positionals: ['ID'],
  options: OWNER,
  run: ({ config, io, options, args }) =>
    withNotifications({ config, io, options }, async ({ channels }, owner, actor) => {
      const [id = ''] = args
      await channels.remove(owner, actor, id)
      return { json: { id, deleted: true }, text: `Deleted channel ${id}.` }
    }),
}

const DONE = {
  sent: 'Sent.',
  posted: 'The email is in the outbox. A running server sends it.',
  failed: 'Failed.',
}

/** Secrets are refused here: the list of processes would show them. */
function settingsIn(type: ChannelType, { setting }: Invocation['options']) {
  const { names, secrets } = settingsOf(type)
  const pairs = [setting ?? []].flat().map((pair) => {
    const [, name = '', value] = /^([^=]+)=(.*)$/s.exec(`${pair}`) ?? []
    if (value === undefined) throw new UsageError('--setting: must be NAME=VALUE')
    if (!names.includes(name))
      throw new UsageError(`--setting: ${type} has ${names.join(', ') || 'no settings'}`)
    if (secrets.includes(name))
      throw new UsageError(`--setting: ${name} is a secret. Use --settings-stdin`)
    return [name, value] as const
  })
  return Object.fromEntries(pairs)
}

async function settingsFrom(io: Io, options: Invocation['options']) {
  if (!options['settings-stdin']) return {}
  const settings = parsed(await io.in())
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings))
    throw invalid('must be a JSON object', { field: '--settings-stdin', rule: 'format' })
  return settings
}

/** Undefined if it isn't JSON. The error of the parser would quote a secret. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const kindsIn = ({ kind }: Invocation['options']) =>
  kind === undefined ? null : [kind].flat().map((one) => oneOf(ALERT_KINDS, 'kind', `${one}`))
