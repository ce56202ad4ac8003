import { Elysia, t } from 'elysia'
import { PageOf, pageQuery } from '../../http/paging.ts'
import { Empty } from '../../http/responses.ts'
import type { Actor } from '../../platform/audit/index.ts'
import { isoTime } from '../../platform/clock.ts'
import { AppError, conflict, renamed } from '../../platform/errors.ts'
import { SIGN_IN_MS } from '../operators/links.ts'
import { LoginLink, NewOperator, Operator } from './model.ts'
import {
  badBody,
  Conflict,
  type InstallationApiParts,
  reads,
  refused,
  Unknown,
  writes,
} from './parts.ts'

/** The accounts of the console. */
export function operatorRoutes({ clock, operators, gateOperators, access }: InstallationApiParts) {
  const { admins, loginLinks, present, provisioning } = operators
  const { operatorList } = gateOperators

  const shown = (id: string) => present(admins.existing(id))

  async function create(actor: Actor, { email, name = '', admin, password }: NewOperator) {
    if (gateOperators.find(email)) throw TAKEN
    const account = {
      email,
      displayName: name,
      isAdmin: admin === true,
      ...(password !== undefined && { password }),
    }
    return shown((await aboutFields(() => provisioning.create(actor, account))).id)
  }

  async function loginLink(actor: Actor, id: string) {
    const url = await loginLinks.make(actor, admins.existing(id))
    return { url: url ?? null, expires_at: isoTime(clock.now() + SIGN_IN_MS) }
  }

  /** A route that changes an operator and answers with the new state. */
  const after =
    (act: (actor: Actor, id: string) => Promise<void>) =>
    async ({ caller, params }: { caller: { actor: Actor }; params: { operator_id: string } }) => {
      await act(caller.actor, params.operator_id)
      return shown(params.operator_id)
    }

  const changed = { 200: Operator, ...refused, 404: Unknown, 409: Conflict }

  return new Elysia({ prefix: '/operators' })
    .use(access)
    .get(
      '',
      ({ query }) => {
        const found = operatorList.page({ ...query, search: query.search || undefined })
        return { ...found, data: found.data.map(present) }
      },
      {
        scope: reads,
        detail: {
          summary: 'List operators',
          description: 'Newest first; sorted by address with `search`.',
        },
        query: pageQuery({
          search: t.Optional(t.String({ description: 'The beginning of an email address.' })),
        }),
        response: { 200: PageOf(Operator), ...refused },
      },
    )
    .post('', async ({ caller, body, status }) => status(201, await create(caller.actor, body)), {
      scope: writes,
      detail: {
        summary: 'Create an operator',
        description: 'With an unverified address, and without a role in any tenant.',
      },
      body: NewOperator,
      response: { 201: Operator, ...badBody, ...refused, 409: Conflict },
    })
    .get('/:operator_id', ({ params }) => shown(params.operator_id), {
      scope: reads,
      detail: { summary: 'Get an operator' },
      response: { 200: Operator, ...refused, 404: Unknown },
    })
    .post('/:operator_id/deactivate', after(admins.deactivate), {
      scope: writes,
      detail: {
        summary: 'Deactivate an operator',
        description: 'Ends all sessions and sign-in links. The last admin stays active.',
      },
      response: changed,
    })
    .post('/:operator_id/reactivate', after(admins.reactivate), {
      scope: writes,
      detail: {
        summary: 'Reactivate an operator',
        description: 'An account with an unverified address loses its credentials.',
      },
      response: changed,
    })
    .post('/:operator_id/sign-out', after(admins.signOut), {
      scope: writes,
      detail: { summary: 'End all sessions and sign-in links of an operator' },
      response: { 200: Operator, ...refused, 404: Unknown },
    })
    .post(
      '/:operator_id/login-link',
      async ({ caller, params, status }) =>
        status(201, await loginLink(caller.actor, params.operator_id)),
      {
        scope: writes,
        detail: {
          summary: 'Create a sign-in link for an operator',
          description:
            'It works once, for 10 minutes. With a mail server, Gatehouse emails it to the operator instead of answering with it.',
        },
        response: { 201: LoginLink, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .put(
      '/:operator_id/admin',
      after((actor, id) => admins.give(actor, admins.existing(id))),
      {
        scope: writes,
        detail: {
          summary: 'Make an operator an admin',
          description: 'An account with an unverified address loses its credentials and sessions.',
        },
        response: changed,
      },
    )
    .delete(
      '/:operator_id/admin',
      async ({ caller, params, status }) => {
        await admins.take(caller.actor, params.operator_id)
        return status(204, undefined)
      },
      {
        scope: writes,
        detail: {
          summary: 'Remove the admin right of an operator',
          description: 'Roles in tenants remain. The last admin stays one.',
        },
        response: { 204: Empty, ...refused, 404: Unknown, 409: Conflict },
      },
    )
}

const TAKEN = conflict('is the address of another operator', { field: 'email', rule: 'taken' })

/** The service's names of fields. */
const FIELDS: Readonly<Record<string, string>> = {
  'traits.email': 'email',
  'traits.display_name': 'name',
}

/** Names the fields as this API does. */
async function aboutFields<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw renamed(error, (field) => FIELDS[field ?? ''] ?? field)
  }
}
