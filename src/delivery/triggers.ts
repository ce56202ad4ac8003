/** What makes an attempt at a delivery happen. */
export const DELIVERY_TRIGGERS = ['schedule', 'resend', 'replay'] as const
type DeliveryTrigger = (typeof DELIVERY_TRIGGERS)[number]

/** What makes a request happen. A test is sent immediately and leaves no delivery. */
export type Trigger = DeliveryTrigger | 'test'
