import type { Page } from '../page.tsx'
import { accountPage } from './account/index.tsx'
import { invitationPage } from './entry/invitation.tsx'
import { linkPage } from './entry/link.tsx'
import { setUpPage } from './entry/set-up.tsx'
import { installationOverviewPage } from './home/installation.tsx'
import { overviewPage } from './home/overview.tsx'
import { startPage } from './home/start.tsx'
import { backupPage } from './installation/backup.tsx'
import { backupList } from './installation/backups.tsx'
import { configurationPage } from './installation/configuration.tsx'
import { emailPage } from './installation/email.tsx'
import { failoverPage } from './installation/failover.tsx'
import { healthPage } from './installation/health.tsx'
import {
  editInstallationKey,
  installationKey,
  installationKeyList,
  newInstallationKey,
} from './installation/keys.tsx'
import { mailServerPage } from './installation/mail-server.tsx'
import { operatorPage } from './installation/operator.tsx'
import { operatorList } from './installation/operators.tsx'
import { outboxPage } from './installation/outbox.tsx'
import { installationProvider } from './installation/provider.tsx'
import { installationProviders } from './installation/providers.tsx'
import { tenantPage } from './installation/tenant.tsx'
import { newTenant, tenantList } from './installation/tenants.tsx'
import { delayedList } from './jobs/delayed.tsx'
import { newDelayedJob } from './jobs/delayed-form.tsx'
import { delayedJob } from './jobs/delayed-job.tsx'
import { editJob, newJob } from './jobs/form.tsx'
import { jobHistory } from './jobs/history.tsx'
import { jobPage } from './jobs/job.tsx'
import { jobList } from './jobs/list.tsx'
import { jobSigningSecret } from './jobs/signing-secret.tsx'
import { botPage } from './messenger-login/bot.tsx'
import { loginPage } from './messenger-login/login.tsx'
import { loginList } from './messenger-login/logins.tsx'
import { messengerUser, messengerUsers } from './messenger-login/users.tsx'
import { editMonitor, newMonitor } from './monitors/form.tsx'
import { monitorList } from './monitors/list.tsx'
import { monitorPage } from './monitors/monitor.tsx'
import { alertList, installationAlerts } from './notifications/alerts.tsx'
import { channelPage, installationChannel } from './notifications/channel.tsx'
import {
  channelChoice,
  channelList,
  installationChannelChoice,
  installationChannels,
  newChannel,
  newInstallationChannel,
} from './notifications/channels.tsx'
import { installationSearchPage, tenantSearchPage } from './search/index.tsx'
import { goalsPage } from './set-up/goals.tsx'
import { jobsGuide } from './set-up/jobs.tsx'
import { messengerGuide } from './set-up/messenger-login.tsx'
import { usersGuide } from './set-up/users.tsx'
import { webhooksGuide } from './set-up/webhooks.tsx'
import { welcomePage } from './set-up/welcome.tsx'
import { activityPage } from './users/activity.tsx'
import { decisionList, decisionPage } from './users/decisions.tsx'
import { userList } from './users/list.tsx'
import { newUser } from './users/new-user.tsx'
import { policiesPage } from './users/policies.tsx'
import { providerPage } from './users/provider.tsx'
import { signInPage } from './users/sign-in.tsx'
import { signInHistoryPage } from './users/sign-ins.tsx'
import { userPage } from './users/user.tsx'
import { webhookPage } from './users/webhook.tsx'
import { webhookDelivery } from './users/webhook-delivery.tsx'
import { newWebhook } from './users/webhook-form.tsx'
import { webhookList } from './users/webhooks.tsx'
import { deliveryList } from './webhooks/deliveries.tsx'
import { deliveryPage } from './webhooks/delivery.tsx'
import { endpointPage } from './webhooks/endpoint.tsx'
import { editEndpoint, newEndpoint } from './webhooks/endpoint-form.tsx'
import { endpointList } from './webhooks/endpoints.tsx'
import { eventTypeList, eventTypePage } from './webhooks/event-types.tsx'
import { messagePage } from './webhooks/message.tsx'
import { messageList, newMessage } from './webhooks/messages.tsx'
import { replayPage } from './webhooks/replay.tsx'
import { auditLog } from './workspace/audit.tsx'
import { brandingPage } from './workspace/branding.tsx'
import { brandingEmailPage } from './workspace/branding-email.tsx'
import { editKey } from './workspace/edit-key.tsx'
import { keyPage } from './workspace/key.tsx'
import { keyList } from './workspace/keys.tsx'
import { manifestPage } from './workspace/manifest.tsx'
import { newKey } from './workspace/new-key.tsx'
import { settingsPage } from './workspace/settings.tsx'
import { settingsDataPage } from './workspace/settings-data.tsx'
import { settingsSecurityPage } from './workspace/settings-security.tsx'
import { teamPage } from './workspace/team.tsx'
import { inviteMember } from './workspace/team-invite.tsx'
import { memberPage } from './workspace/team-member.tsx'
import { usagePage } from './workspace/usage.tsx'

/** Every page of the console. */
export const PAGES: readonly Page[] = [
  overviewPage,
  installationOverviewPage,
  startPage,
  alertList,
  installationAlerts,
  jobList,
  newJob,
  jobPage,
  jobHistory,
  editJob,
  jobSigningSecret,
  delayedList,
  newDelayedJob,
  delayedJob,
  monitorList,
  newMonitor,
  monitorPage,
  editMonitor,
  userList,
  newUser,
  userPage,
  signInHistoryPage,
  activityPage,
  signInPage,
  providerPage,
  policiesPage,
  decisionList,
  decisionPage,
  webhookList,
  newWebhook,
  webhookPage,
  webhookDelivery,
  botPage,
  loginList,
  messengerUsers,
  messengerUser,
  loginPage,
  endpointList,
  newEndpoint,
  endpointPage,
  editEndpoint,
  replayPage,
  messageList,
  newMessage,
  messagePage,
  deliveryList,
  deliveryPage,
  eventTypeList,
  eventTypePage,
  keyList,
  newKey,
  editKey,
  keyPage,
  teamPage,
  inviteMember,
  memberPage,
  usagePage,
  auditLog,
  settingsPage,
  brandingPage,
  manifestPage,
  brandingEmailPage,
  settingsSecurityPage,
  channelList,
  channelChoice,
  newChannel,
  channelPage,
  settingsDataPage,
  tenantList,
  newTenant,
  tenantPage,
  operatorList,
  operatorPage,
  installationKeyList,
  newInstallationKey,
  editInstallationKey,
  installationKey,
  healthPage,
  outboxPage,
  emailPage,
  installationProviders,
  installationProvider,
  mailServerPage,
  installationChannels,
  installationChannelChoice,
  newInstallationChannel,
  installationChannel,
  backupList,
  backupPage,
  failoverPage,
  configurationPage,
  welcomePage,
  goalsPage,
  usersGuide,
  jobsGuide,
  webhooksGuide,
  messengerGuide,
  accountPage,
  setUpPage,
  linkPage,
  invitationPage,
  tenantSearchPage,
  installationSearchPage,
]
