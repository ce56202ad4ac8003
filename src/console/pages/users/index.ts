import type { Page } from '../../page.tsx'
import { decisionPage } from './decision.tsx'
import { decisionList } from './decisions.tsx'
import { userList } from './list.tsx'
import { newUser } from './new-user.tsx'
import { policiesPage } from './policies.tsx'
import { providerPage } from './provider.tsx'
import { signInPage } from './sign-in.tsx'
import { userPage } from './user.tsx'
import { webhookPage } from './webhook.tsx'
import { webhookDelivery } from './webhook-delivery.tsx'
import { newWebhook } from './webhook-form.tsx'
import { webhookList } from './webhooks.tsx'

export const userPages: readonly Page[] = [
  userList,
  newUser,
  userPage,
  signInPage,
  providerPage,
  policiesPage,
  decisionList,
  decisionPage,
  webhookList,
  newWebhook,
  webhookPage,
  webhookDelivery,
]
