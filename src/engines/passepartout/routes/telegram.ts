import { Elysia, t } from 'elysia'
import { parseJson, readText } from '../../../http/body.ts'
import { CodedErrors, refusalsIn } from '../../../http/responses.ts'
import type { Webhook } from '../telegram/webhook.ts'

const { badBody, refused } = refusalsIn(CodedErrors)

/** Telegram's header name; see setWebhook of the Bot API. */
const SECRET = 'x-telegram-bot-api-secret-token'

/** The endpoint that Telegram calls for bots with a webhook. */
export const telegramRoutes = ({ webhook, maxBody }: { webhook: Webhook; maxBody: number }) =>
  new Elysia({ tags: ['passepartout'] }).post(
    '/telegram/:bot_id',
    async ({ request, params }) => {
      const bot = webhook.admit(params.bot_id, request.headers.get(SECRET))
      await webhook.take(bot, parseJson(await readText(request, maxBody)))
      return {}
    },
    // The secret is checked before the body is read.
    {
      parse: 'none',
      detail: {
        summary: 'Receive updates from Telegram',
        description:
          'Only for Telegram, for bots that use a webhook. Requires the secret of the bot in `X-Telegram-Bot-Api-Secret-Token`.',
        security: [],
      },
      response: { 200: t.Object({}), ...badBody, 401: refused[401], 503: refused[503] },
    },
  )
