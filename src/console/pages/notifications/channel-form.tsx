import { Button } from '../../../../views/ui/form/button.tsx'
import { Checkbox, Checkboxes, Select } from '../../../../views/ui/form/choices.tsx'
import { checkedValues, Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import {
  CHANNEL_TYPES,
  type Channel,
  type ChannelType,
  type NewChannel,
} from '../../../engines/notifications/index.ts'
import type { Fields } from '../../../http/body.ts'
import { ALERT_KINDS, SEVERITIES } from '../../../platform/alerts/index.ts'
import { invalid } from '../../../platform/errors.ts'
import { MASK } from '../../../platform/secret-headers.ts'
import { trimmedText } from '../../form.ts'
import { headersIn } from '../webhooks/fields.ts'
import { KINDS_OF_INSTALLATION, KINDS_OF_TENANT, TYPE_WORDS } from './words.ts'

/** Form fields by API field. */
export const CHANNEL_FORM = {
  name: 'name',
  kinds: 'kinds',
  min_severity: 'min_severity',
  headers: 'headers',
  ...Object.fromEntries(
    ['url', 'server', 'topic', 'token', 'chat_id', 'address', 'method', 'headers', 'body'].map(
      (name) => [`settings.${name}`, name],
    ),
  ),
}

export const typeIn = (text: string | undefined): ChannelType | undefined =>
  CHANNEL_TYPES.find((type) => type === text)

/** The types to choose from. The installation has no bot. */
export const TypeChoice = (of: { isOfTenant: boolean; hrefOf: (type: ChannelType) => string }) => (
  <>
    <PageHead title="New channel" state={{ sentence: 'Where do you want to receive alerts?' }} />
    <DataTable
      caption="Types of channels"
      columns={TYPE_COLUMNS}
      rows={CHANNEL_TYPES.filter((type) => of.isOfTenant || type !== 'telegram')}
      idOf={(type) => type}
      hrefOf={of.hrefOf}
    />
  </>
)

const TYPE_COLUMNS: Column<ChannelType>[] = [
  { label: 'Type', cell: (type) => TYPE_WORDS[type].label },
  { label: 'Sends to', isWide: true, cell: (type) => TYPE_WORDS[type].text },
]

/** Name, settings, and the alerts that the channel gets. */
export const ChannelForm = (of: {
  type: ChannelType
  isOfTenant: boolean
  channel?: Channel
  cancel: string
  action: string
}) => {
  const { type, channel } = of
  return (
    <PageForm
      action={of.action}
      anchor="settings"
      cancel={of.cancel}
      buttons={<Button weight="primary">{channel ? 'Save channel' : 'Create channel'}</Button>}
    >
      <Field name="name" label="Name" isRequired value={channel?.name ?? TYPE_WORDS[type].label} />
      <SettingsFields type={type} settings={channel?.settings ?? {}} isNew={!channel} />
      <Select
        name="min_severity"
        label="Severity"
        value={channel?.minSeverity ?? 'warning'}
        options={[
          { value: 'warning', label: 'Warnings and critical alerts' },
          { value: 'critical', label: 'Critical alerts only' },
        ]}
      />
      <Checkboxes
        name="kinds"
        label="Alerts"
        values={channel?.kinds ?? []}
        options={Object.entries(of.isOfTenant ? KINDS_OF_TENANT : KINDS_OF_INSTALLATION).map(
          ([value, label]) => ({ value, label }),
        )}
        help="If none is selected, the channel gets all alerts."
      />
      <Checkbox name="active" label="Active" isChecked={channel?.isActive ?? true} />
    </PageForm>
  )
}

function SettingsFields(of: {
  type: ChannelType
  settings: Record<string, unknown>
  isNew: boolean
}) {
  const { type, settings, isNew } = of
  const text = (name: string) => (settings[name] === undefined ? '' : `${settings[name]}`)
  const secret = (name: string, label: string, help?: string) => (
    <Field
      name={name}
      label={label}
      type="password"
      isMono
      isRequired={isNew && name !== 'token'}
      {...(!isNew && { placeholder: 'Unchanged' })}
      help={help}
    />
  )
  switch (type) {
    case 'owners':
      return null
    case 'email':
      return (
        <Field
          name="address"
          label="Email address"
          type="email"
          isRequired
          value={text('address')}
          help="The verified address of a member. Invite others to your team first."
        />
      )
    case 'webhook':
      return (
        <Field
          name="url"
          label="URL"
          isMono
          isRequired
          value={text('url')}
          placeholder="https://example.com/alerts"
          help="Receives signed POST requests with JSON."
        />
      )
    case 'ntfy':
      return (
        <>
          <Field
            name="server"
            label="Server"
            isMono
            isRequired
            value={text('server') || 'https://ntfy.sh'}
          />
          <Field name="topic" label="Topic" isMono isRequired value={text('topic')} />
          {secret('token', 'Access token', 'Only for a protected topic.')}
        </>
      )
    case 'telegram':
      return (
        <Field
          name="chat_id"
          label="Chat ID"
          isMono
          isRequired
          value={text('chat_id')}
          placeholder="-1001234567890"
          help="Your live bot must be a member of the chat."
        />
      )
    case 'http':
      return (
        <>
          {secret('url', 'URL', 'Placeholders such as {{title}} are allowed after the host.')}
          <Select
            name="method"
            label="Method"
            value={text('method') || 'POST'}
            options={['POST', 'PUT', 'PATCH', 'GET'].map((value) => ({ value, label: value }))}
          />
          <Textarea
            name="headers"
            label="Headers"
            rows={3}
            isMono
            isRequired={false}
            value={Object.entries((settings.headers as Record<string, string>) ?? {})
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
            placeholder="Content-Type: application/json"
            help="One per line. Saved values are hidden."
          />
          <Textarea
            name="body"
            label="Body"
            rows={5}
            isMono
            isRequired={false}
            value={text('body')}
            placeholder={'{"text": "{{title}}: {{text}}"}'}
            help="Placeholders: {{title}} {{text}} {{url}} {{severity}} {{event}} {{kind}} {{subject}} {{at}}"
          />
        </>
      )
    default:
      return secret('url', 'Webhook URL', 'Anyone who knows it can post to the chat.')
  }
}

/** Reads a channel from a form. A secret that is left empty stays as it is. */
export function channelIn(fields: Fields, type: ChannelType, before?: Channel): NewChannel {
  const kinds = checkedValues(fields, 'kinds')
  const minSeverity = SEVERITIES.find((one) => one === trimmedText(fields, 'min_severity'))
  if (!minSeverity)
    throw invalid('must be warning or critical', { field: 'min_severity', rule: 'choice' })
  return {
    type,
    name: trimmedText(fields, 'name'),
    settings: settingsIn(fields, type, before),
    kinds: kinds.length === 0 ? null : ALERT_KINDS.filter((kind) => kinds.includes(kind)),
    minSeverity,
    isActive: trimmedText(fields, 'active') === 'true',
  }
}

function settingsIn(fields: Fields, type: ChannelType, before?: Channel): Record<string, unknown> {
  const text = (name: string) => trimmedText(fields, name)
  const secret = (name: string) => text(name) || (before?.settings?.[name] ? MASK : undefined)
  switch (type) {
    case 'owners':
      return {}
    case 'email':
      return { address: text('address').toLowerCase() }
    case 'webhook':
      return { url: text('url') }
    case 'ntfy':
      return { server: text('server'), topic: text('topic'), token: secret('token') }
    case 'telegram':
      return { chat_id: text('chat_id') }
    case 'http':
      return {
        url: secret('url'),
        method: text('method'),
        headers: headersIn(fields),
        body: text('body'),
      }
    default:
      return { url: secret('url') }
  }
}
