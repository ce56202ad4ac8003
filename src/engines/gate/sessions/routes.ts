import { Elysia, t } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { Empty, PlainErrors, refusalsIn } from '../../../http/responses.ts'
import { Refusal } from '../sign-in/flow-answers.ts'
import type { Flows } from '../sign-in/flows/index.ts'
import { Exchange, SignedIn } from '../sign-in/model.ts'
import { REQUIRED_SESSION_TOKEN } from '../sign-in/request-headers.ts'
import type { Sessions } from './index.ts'
import { SessionDetail } from './model.ts'

const { 404: Unknown } = PlainErrors
const { refused, badBody } = refusalsIn(PlainErrors)

/** contract/gate, sessions; plus whoami and exchange. */
export function sessionRoutes(parts: { sessions: Sessions; flows: Flows; access: Access }) {
  const { sessions, flows, access } = parts

  return new Elysia({ prefix: '/sessions', tags: ['gate'] })
    .use(access)
    .get(
      '/whoami',
      ({ caller, request }) =>
        sessions.whoami(request.headers.get('x-session-token') ?? undefined, caller),
      {
        optionalKeyOf: 'gate',
        detail: {
          summary: 'Get the current session',
          description:
            'From a server, also send an API key: then only sessions of its tenant are valid.',
          parameters: [REQUIRED_SESSION_TOKEN],
        },
        response: { 200: SessionDetail, ...refused, 403: t.Union([Refusal, PlainErrors[403]]) },
      },
    )
    .post('/exchange', ({ caller, body }) => flows.exchange(caller, body), {
      scope: 'flows',
      body: Exchange,
      detail: {
        summary: 'Exchange a code for a session',
        description:
          'Takes the `flow` and `code` that the browser brought back to the `X-Return-To` URL. Works once, within 5 minutes.',
      },
      response: { 200: SignedIn, ...badBody, ...refused, 404: Unknown },
    })
    .delete(
      '/:session_id',
      ({ caller, params, status }) =>
        sessions.revoke(caller, params.session_id).then(() => status(204, undefined)),
      {
        scope: 'sessions:write',
        detail: { summary: 'End a session' },
        response: { 204: Empty, ...refused, 404: Unknown },
      },
    )
}
