import type { TSchema } from '@sinclair/typebox'

/** What a channel receives about an alert. All texts are of one line and may come from a tenant. */
export interface Notice {
  /** Stable over retries, so that a receiver can recognize one that it already has. */
  id: string
  event: 'opened' | 'resolved' | 'reminder' | 'test'
  /** Such as `job.failed`. */
  kind: string
  severity: 'critical' | 'warning'
  title: string
  /** Why, in one or two sentences. */
  text: string
  subject: { id: string; name: string }
  /** Null for the installation. */
  tenant: { id: string; name: string } | null
  /** Milliseconds since the epoch, like all times. */
  openedAt: number
  /** When this was first announced. */
  at: number
  resolvedAt: number | null
  /** How often it happened since it opened. */
  count: number
  /** The page of the console about it. */
  url: string
}

/** The request that notifies a channel. */
export interface NoticeRequest {
  url: string
  method: string
  headers: Record<string, string>
  body: string
}

/** How one type of channel is set up and notified. */
export interface Format<Settings> {
  type: string
  label: string
  Settings: TSchema
  /** The settings that no answer shows. */
  secrets: readonly (keyof Settings & string)[]
  /** Where it leads, recognizable, without a secret. */
  hintOf: (settings: Settings) => string
  /** Throws `invalid` for settings that the schema allows, but that can't work. */
  check?: (settings: Settings) => void
  requestOf: (settings: Settings, notice: Notice) => NoticeRequest
}

/** A request with a JSON body. */
export const jsonRequest = (
  url: string,
  body: object,
  headers: Record<string, string> = {},
): NoticeRequest => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/** The URL of a chat's webhook is its password: shows the host and the last four characters. */
export function hintOfSecretUrl(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}/…${pathname.length > 12 ? pathname.slice(-4) : ''}`
}
