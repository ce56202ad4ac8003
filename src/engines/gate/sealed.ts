import { sealedColumn } from '../../platform/sealing/column.ts'
import {
  gateCredentials,
  gateFlows,
  gateOAuthStates,
  gateSocialLinks,
  gateTestSignIns,
} from './schema.ts'

/** Only the secret of an authenticator is sealed, because other credentials are hashes. */
export const totpSecret = sealedColumn({
  column: gateCredentials.config,
  property: 'secret',
  purpose: 'gate totp secrets',
  named: { id: gateCredentials.identityId },
  boundTo: ({ id }) => `gate_credentials/${id}/totp`,
})

export const flowInternal = sealedColumn({
  column: gateFlows.internal,
  purpose: 'gate flows',
  named: { id: gateFlows.id },
  boundTo: ({ id }) => `gate_flows/${id}/internal`,
})

export const oauthStateSecrets = sealedColumn({
  column: gateOAuthStates.secrets,
  purpose: 'gate round trips',
  named: { stateHash: gateOAuthStates.stateHash },
  boundTo: ({ stateHash }) => `gate_round_trips/${stateHash}/secrets`,
})

export const testSignInContent = sealedColumn({
  column: gateTestSignIns.content,
  purpose: 'gate test sign-ins',
  named: { sessionId: gateTestSignIns.sessionId, provider: gateTestSignIns.provider },
  boundTo: ({ sessionId, provider }) => `gate_test_sign_ins/${sessionId}/${provider}/content`,
})

export const providerTokens = sealedColumn({
  column: gateSocialLinks.tokens,
  purpose: 'gate provider tokens',
  named: {
    tenantId: gateSocialLinks.tenantId,
    provider: gateSocialLinks.provider,
    subject: gateSocialLinks.subject,
  },
  boundTo: ({ tenantId, provider, subject }) =>
    `gate_social_links/${tenantId}/${provider}/${subject}/tokens`,
})

/** The sealed columns of gate. */
export const sealed = [
  totpSecret,
  flowInternal,
  oauthStateSecrets,
  testSignInContent,
  providerTokens,
]
