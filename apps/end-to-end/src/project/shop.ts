/** Ids of the tasks that the initializer plans. */
export const shopTasks = ['login', 'catalog', 'cart', 'search', 'checkout', 'orders', 'returns', 'reports'];

export const planOfShop = {
  goal: 'A shop',
  tasks: shopTasks.map((id, index) => ({
    id,
    title: `Build ${id}`,
    acceptance: [`${id} works end to end`],
    ...(index === 1 && { dependsOn: ['login'] }),
  })),
};

/** Returns the file content that completes a task. */
export const contentOf = (id: string): string => `The whole of ${id}.`;
