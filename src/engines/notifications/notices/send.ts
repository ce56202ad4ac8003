import type { Clock } from '../../../platform/clock.ts'
import { AppError } from '../../../platform/errors.ts'
import type { Mail, NewMail } from '../../../platform/mail/index.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'
import type { ChannelType } from '../channel-types.ts'
import type { Settings } from '../channels/settings.ts'
import type { Notice, NoticeRequest } from '../formats/format.ts'
import { FORMATS, telegramText } from '../formats/index.ts'
import type { Recipients } from '../recipients.ts'
import { noticeMail } from './mail.ts'

/** The result of an attempt. Mails are stored in the commit that settles it, so none is sent twice. */
export type Outcome =
  | { result: 'sent' }
  | { result: 'posted'; mails: NewMail[] }
  | { result: 'failed'; reason: string; isFinal?: boolean }

/** Sends a message by the live bot of a tenant. Rejects with a reason for users. */
export type SendByBot = (
  tenantId: string,
  chatId: string,
  text: string,
  signal: AbortSignal,
) => Promise<void>

export type Send = ReturnType<typeof createSend>

/** The longest time that an attempt takes, in milliseconds. */
export const TIMEOUT_MS = 10_000
const KEPT_RESPONSE_BYTES = 1024

const NO_SERVER = 'no mail server is set up'
const NO_RECIPIENT = 'no recipient has a verified email address'

/** The returned function notifies one channel; it never rejects. */
export function createSend(parts: {
  clock: Clock
  outbound: Outbound
  mail: Pick<Mail, 'hasServer'>
  recipients: Recipients
  sendByBot: SendByBot
}) {
  const { clock, outbound, mail, recipients, sendByBot } = parts

  async function send(
    type: ChannelType,
    settings: Settings,
    notice: Notice,
    signal: AbortSignal,
  ): Promise<Outcome> {
    if (type === 'owners') return post(recipients.ownersOf(notice.tenant?.id ?? null), notice)
    if (type === 'email') return post(stillMember(notice, `${settings.address}`), notice)
    if (type === 'telegram') return chat(`${settings.chat_id}`, notice, signal)
    const request = FORMATS[type].requestOf?.(settings as never, notice, clock.now())
    return request ? call(request, signal) : failed('this type of channel is not supported')
  }

  const stillMember = ({ tenant }: Notice, address: string): string[] =>
    recipients.membersOf(tenant?.id ?? null).filter((one) => one === address)

  function post(addresses: string[], notice: Notice): Outcome {
    if (!mail.hasServer) return { ...failed(NO_SERVER), isFinal: true }
    if (addresses.length === 0) return { ...failed(NO_RECIPIENT), isFinal: true }
    const mails = addresses.map((address) => noticeMail(notice, address, clock.now()))
    return { result: 'posted', mails }
  }

  async function chat(chatId: string, notice: Notice, signal: AbortSignal): Promise<Outcome> {
    if (!notice.tenant) return { ...failed('the installation has no bot'), isFinal: true }
    const timeout = new AbortController()
    const cancel = clock.after(TIMEOUT_MS, () => timeout.abort())
    try {
      const either = AbortSignal.any([signal, timeout.signal])
      await sendByBot(notice.tenant.id, chatId, telegramText(notice), either)
      return { result: 'sent' }
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error))
    } finally {
      cancel()
    }
  }

  async function call(request: NoticeRequest, signal: AbortSignal): Promise<Outcome> {
    const { method, body } = request
    try {
      const sent = await outbound.send({
        ...request,
        body: method === 'GET' ? null : body,
        timeoutMs: TIMEOUT_MS,
        maxResponseBytes: KEPT_RESPONSE_BYTES,
        headIsEnough: true,
        signal,
      })
      if (!sent.replied) return failed(sent.message)
      const isGood = sent.status >= 200 && sent.status < 300
      return isGood ? { result: 'sent' } : failed(`status ${sent.status}`)
    } catch (error) {
      // Headers or a URL that are refused as a whole, such as from an import.
      if (error instanceof AppError) return { ...failed(error.problem), isFinal: true }
      throw error
    }
  }

  return send
}

const failed = (reason: string) => ({ result: 'failed' as const, reason })
