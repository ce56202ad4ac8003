import { Elysia } from 'elysia'
import { PlainErrors } from '../../../http/responses.ts'
import { OPERATOR_SCHEMA, TraitsSchema, USER_SCHEMA } from '../identities/trait-schemas.ts'
import { EnabledProviders } from './model.ts'
import type { SignInMethods } from './sign-in-methods.ts'

/** contract/gate, public endpoint: for browsers of any origin, without a key. */
export const publicRoutes = ({ signInMethods }: { signInMethods: SignInMethods }) =>
  new Elysia({ prefix: '/public/gate', tags: ['gate'] })
    .onBeforeHandle(({ set }) => {
      set.headers['access-control-allow-origin'] = '*'
    })
    .get(
      '/providers/:tenant_id',
      ({ params }) => signInMethods.enabledProviders(params.tenant_id),
      {
        detail: {
          summary: 'List the social login providers of a tenant',
          description: 'Providers that the tenant has enabled and the installation has configured.',
        },
        response: { 200: EnabledProviders, 404: PlainErrors[404] },
      },
    )
    .get('/schemas/user', () => USER_SCHEMA, {
      detail: { summary: 'Get the schema of users', description: 'A JSON Schema.' },
      response: { 200: TraitsSchema },
    })
    .get('/schemas/operator', () => OPERATOR_SCHEMA, {
      detail: { summary: 'Get the schema of operators', description: 'A JSON Schema.' },
      response: { 200: TraitsSchema },
    })
