import { Elysia, t } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { PageOf, pageQuery } from '../../../http/paging.ts'
import { CodedErrors, refusalsIn } from '../../../http/responses.ts'
import type { Decisions } from './decisions.ts'
import type { Authorization } from './index.ts'
import { Answer, Decision, Evaluated, Evaluation, Question } from './model.ts'

const { 404: Unknown } = CodedErrors
const { refused, badBody } = refusalsIn(CodedErrors)
const scope = 'authorize'

type Parts = { authorization: Authorization; decisions: Decisions; access: Access }

/** contract/gate, authorization; plus reading decisions. */
export const authorizationRoutes = ({ authorization, decisions, access }: Parts) =>
  new Elysia({ prefix: '/authorize', tags: ['gate'] })
    .use(access)
    .post('', ({ caller, body }) => authorization.authorize(caller, body), {
      scope,
      detail: {
        summary: 'Evaluate an authorization request',
        description: 'Allowed if a policy permits it and no policy forbids it.',
      },
      body: Question,
      response: { 200: Answer, ...badBody, ...refused },
    })
    .get('/decisions', ({ caller, query }) => decisions.list(caller, query), {
      scope,
      detail: { summary: 'List decisions', description: 'Newest first.' },
      query: pageQuery({ subject: t.Optional(t.String()) }),
      response: { 200: PageOf(Decision), ...refused },
    })
    .get(
      '/decisions/:decision_id',
      ({ caller, params }) => decisions.get(caller, params.decision_id),
      {
        scope,
        detail: {
          summary: 'Get a decision',
          description: 'Includes everything that the decision was based on.',
        },
        response: { 200: Decision, ...refused, 404: Unknown },
      },
    )

/** OpenID AuthZEN, Authorization API 1.0. */
export const authzenRoutes = ({ authorization, access }: Parts) =>
  new Elysia({ prefix: '/access/v1', tags: ['gate'] })
    // The first hook of all, so that refusals carry the id as well.
    .onParse(({ request, set }) => keepRequestId(request, set.headers))
    .use(access)
    .post('/evaluation', ({ caller, body }) => authorization.evaluate(caller, body), {
      scope,
      detail: {
        summary: 'Evaluate an authorization request (AuthZEN)',
        description: 'Same as `/v1/gate/authorize`, in the format of OpenID AuthZEN 1.0.',
      },
      body: Evaluation,
      response: { 200: Evaluated, ...badBody, ...refused },
    })

/** AuthZEN section 10.1.3: a request id sent by the caller is returned. */
function keepRequestId(request: Request, headers: Record<string, unknown>) {
  const id = request.headers.get('x-request-id')
  if (id !== null && REQUEST_ID.test(id)) headers['x-request-id'] = id
}

const REQUEST_ID = /^[\w.:-]{1,128}$/
