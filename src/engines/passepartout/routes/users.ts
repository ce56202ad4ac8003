import { Elysia } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { CodedErrors, Empty, refusalsIn } from '../../../http/responses.ts'
import { User } from '../model.ts'
import type { People } from '../people.ts'

const { 404: Unknown } = CodedErrors
const { refused } = refusalsIn(CodedErrors)

const scope = 'passepartout'

/** Users who have signed in; an addition to the contract, for requests about stored data. */
export const userRoutes = ({ people, access }: { people: People; access: Access }) =>
  new Elysia({ prefix: '/users', tags: ['passepartout'] })
    .use(access)
    .get('/:user_id', ({ caller, params }) => people.read(caller, params.user_id), {
      scope,
      detail: { summary: 'Get a user', description: "By the `subject` of the user's tokens." },
      response: { 200: User, ...refused, 404: Unknown },
    })
    .delete(
      '/:user_id',
      ({ caller, params, status }) =>
        people.remove(caller, params.user_id).then(() => status(204, undefined)),
      {
        scope,
        detail: {
          summary: 'Delete a user',
          description:
            'Revokes the tokens of the user. The same messenger account later becomes a new user.',
        },
        response: { 204: Empty, ...refused, 404: Unknown },
      },
    )
