import { AppError, invalid } from '../../../platform/errors.ts'
import { checkHeaders, type Outbound } from '../../../platform/outbound/index.ts'
import type { ChannelType } from '../channel-types.ts'
import type { Notice } from '../formats/format.ts'
import { FORMATS } from '../formats/index.ts'
import type { Recipients } from '../recipients.ts'
import type { Settings } from './settings.ts'

const MAX_NAME_LENGTH = 100

/** Checks that need more than the schema of a type: the guard of outbound calls, and who agreed to emails. */
export function createChecks(parts: {
  outbound: Pick<Outbound, 'checkUrl'>
  recipients: Recipients
}) {
  const { outbound, recipients } = parts

  /** Settings are null if they don't change. Throws `invalid`. */
  function check(
    tenantId: string | null,
    of: { type: ChannelType; name: string; settings: Settings | null },
  ) {
    const { type, name, settings } = of
    if (name.trim() === '' || [...name].length > MAX_NAME_LENGTH)
      throw invalid(`must have 1 to ${MAX_NAME_LENGTH} characters`, {
        field: 'name',
        rule: 'too_long',
      })
    if (type === 'telegram' && tenantId === null)
      throw invalid('must not be telegram: the installation has no bot', {
        field: 'type',
        rule: 'choice',
      })
    if (!settings) return
    if (type === 'email' && !recipients.membersOf(tenantId).includes(`${settings.address}`))
      throw invalid(`must be the verified email address of ${tenantId ? 'a member' : 'an admin'}`, {
        field: 'settings.address',
        rule: 'mismatch',
      })
    checkRequest(type, settings)
  }

  /** By a request about a sample, which has the URL and headers that are really called. */
  function checkRequest(type: ChannelType, settings: Settings) {
    const urlField = type === 'ntfy' ? 'settings.server' : 'settings.url'
    const sample = { ...settings, secrets: [] }
    const request = FORMATS[type].requestOf?.(sample as never, SAMPLE, 0)
    if (!request) return
    within(urlField, () => outbound.checkUrl(request.url))
    within('settings.headers', () => checkHeaders(request.headers))
  }

  return { check }
}

/** Names the field of an error by where it is in the settings. */
function within(field: string, check: () => void) {
  try {
    check()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw invalid(error.problem, { field, rule: error.rule ?? 'format' })
  }
}

export const SAMPLE: Notice = {
  id: '00000000-0000-7000-8000-000000000001',
  event: 'test',
  kind: 'test',
  severity: 'warning',
  title: 'Test notification',
  text: 'This channel is set up. You will be notified here when something is wrong.',
  subject: { id: 'test', name: 'Test' },
  tenant: null,
  openedAt: 0,
  at: 0,
  resolvedAt: null,
  count: 1,
  url: 'https://gatehouse.example.com/console',
}
